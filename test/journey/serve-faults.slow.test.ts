import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { long } from '../helpers/long';
import { folders } from '../helpers/memory';
import { needsPrograms } from '../helpers/needs';
import { type Ended, person, serveBuilt } from '../helpers/program';
import { seed } from '../helpers/seed';
import { onSharedPostgres } from '../helpers/stores';
import { type CallName, type Tampering, tampered } from '../helpers/system-calls';
import {
  type Answers,
  isSound,
  judge,
  MARKER,
  opened,
  overSocket,
  type Stock,
  session,
  stocked,
} from '../helpers/whole-session';

const someone = person();
const newFolder = folders();

const FILES = ['', '-wal', '-shm', '-journal'].map((end) => `pwpush.db${end}`);
const files = (data: string) =>
  [...FILES, 'pwpush.reserve', 'instance.key', '.'].map((name) => join(data, name));

/** How calls on its files fail, and how many of them are between those that are tried: in a long run, and else. */
const ERRORS: [CallName, Tampering['effect'], step: [number, number]][] = [
  ['open', 'ENOSPC', [24, 48]],
  ['open', 'EIO', [24, 48]],
  ['pwrite', 'ENOSPC', [192, 384]],
  ['pwrite', 'EIO', [192, 384]],
  ['sync', 'EIO', [24, 48]],
  // Of a file system that allocates late.
  ['sync', 'ENOSPC', [24, 48]],
  ['truncate', 'EIO', [24, 48]],
  ['unlink', 'EIO', [24, 48]],
  ['write', 'ENOSPC', [8, 16]],
];
/** All that kills can come between is in files and on sockets. Between two writes to files, see power-loss.test.ts. */
const KILLS: [CallName, step: [number, number]][] = [
  ['open', [18, 48]],
  ['pwrite', [128, 384]],
  ['sync', [14, 48]],
  ['truncate', [14, 48]],
  ['unlink', [14, 48]],
  ['writev', [8, 24]],
];

/** Runs a session with a service at whose system calls something happens. */
async function broken(stock: Stock, words: readonly string[], how: Tampering) {
  let answers: Answers = {};
  const ended = await serveBuilt(someone.env, words, tampered(how)).then(
    async (served) => {
      answers = await session(overSocket(served), stock);
      return served.stop();
    },
    (error: Error & Ended) => error,
  );
  const where = `${how.effect} at ${how.call} ${how.when}, seed ${seed}`;
  expect(ended.stderr).not.toContain(MARKER);
  expect([null, how.effect === 'KILL' ? 'SIGKILL' : null], where).toContain(ended.signal);
  return { answers, where, killed: ended.signal !== null };
}

/** Tries the first, and those a step further. */
async function inSteps(steps: [number, number], work: (nth: number) => Promise<boolean>) {
  const step = steps[long ? 0 : 1];
  for (let nth = 1 + (seed % step); await work(nth); nth += step);
}

describe(
  'a service at whose system calls something happens (needs strace)',
  needsPrograms('strace'),
  () => {
    let before: string;
    let stock: Stock;
    beforeEach(async () => {
      before = await newFolder();
      stock = await stocked({ data: before });
    });

    /** False if there was no such call. */
    async function withFault(call: CallName, effect: Tampering['effect'], when: string) {
      const [data, log] = [await newFolder(), join(await newFolder(), 'log')];
      cpSync(before, data, { recursive: true });
      // What goes to a socket has no name.
      const paths = call === 'writev' ? [] : files(data);
      const { answers, where, killed } = await broken(stock, ['--data', data], {
        ...{ log, call, effect, when, paths },
      });
      const service = await opened({ data });
      await judge(service, stock, answers, { where, unsure: call === 'sync' });
      await service.close();
      await isSound(data);
      expect(readFileSync(join(data, 'instance.key'))).toHaveLength(45);
      return killed || readFileSync(log, 'utf8').includes('(INJECTED)');
    }

    test.each(ERRORS)(
      'loses nothing and gives no view twice: %s fails, %s',
      async (call, effect, steps) => {
        for (const more of ['', '+'])
          await inSteps(steps, (nth) => withFault(call, effect, `${nth}${more}`));
      },
    );

    test.each(KILLS)('loses nothing and gives no view twice: killed at %s', (call, steps) =>
      inSteps(steps, (nth) => withFault(call, 'KILL', `${nth}`)),
    );
  },
);

onSharedPostgres((databases) => {
  test.each([
    ['write', [16, 40]],
    ['writev', [6, 16]],
  ] as [CallName, [number, number]][])(
    'one of two services, killed at %s, loses nothing and gives no view twice (needs strace)',
    needsPrograms('strace'),
    async (call, steps) => {
      const data = await newFolder();
      const database = databases().localUrl(await databases().createMigrated());
      const other = await opened({ data, database });
      await inSteps(steps, async (nth) => {
        const stock = await stocked({ data, database });
        const log = join(data, 'log');
        const { answers, where, killed } = await broken(
          ...([stock, ['--data', data, '--database', database]] as const),
          { log, call, effect: 'KILL', when: `${nth}` },
        );
        await judge(other, stock, answers, { where });
        return killed;
      });
      await other.close();
    },
  );
});
