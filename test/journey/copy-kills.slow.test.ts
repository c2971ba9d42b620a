import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { inSteps, long, upTo } from '../helpers/long';
import { folders } from '../helpers/memory';
import { needsPrograms } from '../helpers/needs';
import { person, pwpush, start } from '../helpers/program';
import { type CallName, counted, countsIn, logOf, tampered } from '../helpers/system-calls';
import { stocked } from '../helpers/whole-session';

const { env } = person();
const newFolder = folders();

const FILES = ['', '-wal', '-shm', '-journal'].map((end) => `pwpush.db${end}`);
/** What is killed at, and at each how many of them: in a long run, and else. */
const CALLS: [CallName, step: [number, number]][] = [
  ['sync', [2, 6]],
  ['pwrite', [10, 48]],
  ['unlink', [2, 8]],
];

describe('serve copy that is killed (needs strace)', needsPrograms('strace'), () => {
  const places = async (before: string) => {
    const [data, to, log] = [await newFolder(), await newFolder(), join(await newFolder(), 'log')];
    cpSync(before, data, { recursive: true });
    const paths = [data, to].flatMap((folder) => [...FILES, 'instance.key', '.'].map((name) => join(folder, name)));
    return { data, to, log, paths, words: ['serve', 'copy', '--data', data, '--to', to] };
  };
  /** What is open there; undefined where no service could use the data, or there is none. */
  const openIn = async (folder: string) => {
    const { code, stdout } = await pwpush(['serve', 'pushes', '--json', '--data', folder], { env });
    return code === 0 && stdout.includes('"id"') ? stdout : undefined;
  };

  test.each(CALLS)('leaves at most one place in use, and is finished by another: %s, %s', async (call, steps) => {
    const before = await newFolder();
    await stocked({ data: before });
    const whole = await openIn(before);
    expect(whole).toContain('"id"');
    const first = await places(before);
    const counting = start(first.words, { env, by: counted(first.log, first.paths) });
    expect((await counting.ended).code).toBe(0);
    const times = upTo(countsIn(await logOf(first.log, counting.child.pid))[call]);
    const states = new Set<string>();
    for (const nth of inSteps(times, steps[long ? 0 : 1])) {
      const { data, to, log, paths, words } = await places(before);
      const how = { log, call, effect: 'KILL', when: `${nth}`, paths } as const;
      const { signal } = await start(words, { env, by: tampered(how) }).ended;
      const [old, copied] = [await openIn(data), await openIn(to)];
      const where = `${call} ${nth}`;
      expect([old, copied].filter((open) => open === whole).length, where).toBe(
        old === undefined && copied === undefined ? 0 : 1,
      );
      states.add(`${signal} ${old !== undefined} ${copied !== undefined}`);
      const again = await pwpush(words, { env });
      expect([again.code, copied === undefined], `${where}: ${again.stderr}`).toEqual(
        copied === undefined ? [0, true] : [2, false],
      );
      expect([await openIn(data), await openIn(to)], where).toEqual([undefined, whole]);
    }
    expect([...states].some((state) => state.startsWith('SIGKILL'))).toBe(true);
  });
});
