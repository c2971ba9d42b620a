import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
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
    ...{ folder, base: service.url, env: { ...env, TMPDIR: folder, PWPUSH_URL: service.url } },
    tokens: { ADMIN: service.token },
    run: async (words, conditions) => outcome(await started(words, conditions).ended),
    start: (words, conditions, stream) => {
      const { child, ended } = started(words, conditions);
      const lines = createInterface({ input: child[stream] as NodeJS.ReadableStream });
      const first = Promise.race([once(lines, 'line'), ended.then((all) => [all[stream]])]);
      const stop = () => void child.kill('SIGINT');
      return { first: first.then(([line]) => line), ended: ended.then(outcome), stop };
    },
  });
  if (process.env.UPDATE && alone.includes(name)) writeFileSync(join(CASES, name), told);
  else expect(told).toBe(textOf(name));
});
