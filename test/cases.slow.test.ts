import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { alone, also, asTold, CASES, slow, textOf } from './helpers/cases';
import { type Ended, makePerson, person, serving, start } from './helpers/program';
import type { Conditions } from './helpers/run';
import { play } from './helpers/transcript';

test.each(slow)('%s', asTold);

// The built program.

const service = serving(person().env);
const outcome = ({ code, stdout, stderr }: Ended) => ({ code: code ?? -1, stdout, stderr });

test.each([...alone, ...also])('%s', async (name) => {
  const { folder, env } = makePerson();
  const started = (words: string[], { env: more, stdin }: Conditions) => {
    const told = { ...env, ...more } as Record<string, string>;
    return start(words, { env: told, input: stdin as string, cwd: folder });
  };
  const told = await play(textOf(name), {
    folder,
    base: service.url,
    env: { ...env, TMPDIR: folder, PWPUSH_URL: service.url },
    tokens: { ADMIN: service.token },
    run: async (words, conditions) => outcome(await started(words, conditions).ended),
    start: (words, conditions, stream) => {
      const { child, ended, firstLine } = started(words, conditions);
      const first = firstLine(stream).catch(async () => (await ended)[stream]);
      return { first, ended: ended.then(outcome), stop: () => void child.kill('SIGINT') };
    },
  });
  if (process.env.UPDATE && alone.includes(name)) writeFileSync(join(CASES, name), told);
  else expect(told).toBe(textOf(name));
});
