import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { makePerson, person, pwpush, serving } from './helpers/program';
import { play, playInProcess } from './helpers/transcript';

// What a person types, sees and gets, as test/helpers/transcript.ts reads it. `UPDATE=1` writes what happens now.

const CASES = join(import.meta.dirname, 'cases');
const names = readdirSync(CASES).filter((name) => name.endsWith('.txt'));
const textOf = (name: string) => readFileSync(join(CASES, name), 'utf8');

test.each(names)('%s', async (name) => {
  const text = textOf(name);
  const told = await playInProcess(text);
  if (process.env.UPDATE) writeFileSync(join(CASES, name), told);
  else expect(told).toBe(text);
});

describe('as processes', () => {
  const service = serving(person().env);

  test.each(names.filter((name) => /^# .*\(also as processes\)$/m.test(textOf(name))))(
    '%s',
    async (name) => {
      const text = textOf(name);
      const { folder, env, remove } = makePerson();
      onTestFinished(remove);
      const told = await play(text, {
        ...{ folder, base: service.url, env: { ...env, PWPUSH_URL: service.url }, tokens: {} },
        run: async (words, { env: more, stdin }) => {
          const all = { ...env, ...more } as Record<string, string>;
          const ended = await pwpush(words, { env: all, input: stdin as string, cwd: folder });
          return { ...ended, code: ended.code ?? -1 };
        },
      });
      expect(told).toBe(text);
    },
  );
});
