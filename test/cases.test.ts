import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, onTestFinished, test } from 'vitest';
import { inTurns } from './helpers/long';
import { type Ended, makePerson, person, serving, start } from './helpers/program';
import type { Conditions } from './helpers/run';
import { play, playInProcess } from './helpers/transcript';

// What a person types, sees and gets, as test/helpers/transcript.ts reads it. `UPDATE=1` writes what happens now. The
// first comment of a transcript may say that it is run as processes, too or alone.

const CASES = join(import.meta.dirname, 'cases');
const all = readdirSync(CASES).filter((name) => name.endsWith('.txt'));
const textOf = (name: string) => readFileSync(join(CASES, name), 'utf8');
const alone = all.filter((name) => /^# .*\(as processes\)$/m.test(textOf(name)));
const also = all.filter((name) => /^# .*\(also as processes\)$/m.test(textOf(name)));

test.each(all.filter((name) => !alone.includes(name)))('%s', async (name) => {
  const told = await playInProcess(textOf(name));
  if (process.env.UPDATE) writeFileSync(join(CASES, name), told);
  else expect(told).toBe(textOf(name));
});

describe('as processes', () => {
  const service = serving(person().env);
  const outcome = ({ code, stdout, stderr }: Ended) => ({ code: code ?? -1, stdout, stderr });

  test.each(alone)('%s', asTold);
  describe('too', () => {
    inTurns(4);
    test.each(also)('%s', asTold);
  });

  async function asTold(name: string): Promise<void> {
    const { folder, env, remove } = makePerson();
    onTestFinished(remove);
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
  }
});
