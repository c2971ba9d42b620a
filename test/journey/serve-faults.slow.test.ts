import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { keysOf } from '../helpers/key-file';
import { inSteps, long, upTo } from '../helpers/long';
import { folders } from '../helpers/memory';
import { needsPrograms } from '../helpers/needs';
import { type Ended, person, program, pwpush, serveBuilt } from '../helpers/program';
import { seed } from '../helpers/seed';
import { onSharedPostgres } from '../helpers/stores';
import { type CallName, counted, countsIn, logOf, type Tampering, tampered } from '../helpers/system-calls';
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
import { open as openNative } from '../server/lock';

const someone = person();
const newFolder = folders();

const FILES = ['', '-wal', '-shm', '-journal'].map((end) => `pwpush.db${end}`);
const files = (data: string) => [...FILES, 'pwpush.reserve', 'instance.key', '.'].map((name) => join(data, name));

/**
 * What happens to which calls, and to each how many of them: in a long run, and else. All that kills can come between is in
 * files and on sockets. Between two writes to files, see power-loss.slow.test.ts.
 */
const FAULTS: [CallName, Tampering['effect'], step: [number, number]][] = [
  ['open', 'ENOSPC', [24, 48]],
  ['open', 'EIO', [24, 48]],
  ['open', 'KILL', [18, 48]],
  ['pwrite', 'ENOSPC', [256, 512]],
  ['pwrite', 'EIO', [256, 512]],
  ['pwrite', 'KILL', [192, 384]],
  ['sync', 'EIO', [48, 48]],
  // Of a file system that allocates late.
  ['sync', 'ENOSPC', [48, 48]],
  ['sync', 'KILL', [24, 48]],
  ['truncate', 'EIO', [24, 48]],
  ['truncate', 'KILL', [14, 48]],
  ['writev', 'KILL', [8, 24]],
];

async function countsOf(stock: Stock, words: readonly string[], paths: readonly string[] = []) {
  const log = join(await newFolder(), 'log');
  const served = await serveBuilt(someone.env, words, counted(log, paths));
  await session(overSocket(served), stock);
  await served.stop();
  return countsIn(await logOf(log, served.pid));
}

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
  return { answers, where };
}

const stepOf = (steps: [number, number]) => steps[long ? 0 : 1];

describe('a service with faults of system calls (needs strace)', needsPrograms('strace'), () => {
  let before: string;
  let stock: Stock;
  beforeEach(async () => {
    before = await newFolder();
    stock = await stocked({ data: before });
  });

  const copied = async () => {
    const data = await newFolder();
    cpSync(before, data, { recursive: true });
    return data;
  };
  // What goes to a socket has no name.
  const pathsOf = (call: CallName, data: string) => (call === 'writev' ? [] : files(data));

  const counts = new Map<boolean, ReturnType<typeof countsOf>>();
  /** How often a session makes that call, from 1; the same in each test. */
  async function timesOf(call: CallName): Promise<number[]> {
    const data = await copied();
    const paths = pathsOf(call, data);
    const named = paths.length > 0;
    const known = counts.get(named) ?? countsOf(stock, ['--data', data], paths);
    counts.set(named, known);
    const count = (await known)[call];
    expect(count).toBeGreaterThan(0);
    return upTo(count);
  }

  test.each(FAULTS)('loses nothing, gives no view twice: %s, %s', async (call, effect, steps) => {
    const kills = effect === 'KILL';
    const places = (await timesOf(call)).flatMap((nth) => (kills ? [`${nth}`] : [`${nth}`, `${nth}+`]));
    for (const when of inSteps(places, stepOf(steps))) {
      const [data, log] = [await copied(), join(await newFolder(), 'log')];
      const how = { log, call, effect, when, paths: pathsOf(call, data) };
      const { answers, where } = await broken(stock, ['--data', data], how);
      const service = await opened({ data });
      await judge(service, stock, answers, { where, unsure: call === 'sync' });
      await service.close();
      await isSound(data);
      expect(keysOf(join(data, 'instance.key'))).toHaveLength(1);
    }
  });
});

test(
  'a file system without locks is told from a database that is in use (needs strace)',
  needsPrograms('strace'),
  async () => {
    const data = await newFolder();
    const words = ['serve', '--data', data, '--port', '0'];
    const paths = ['pwpush.db', 'pwpush.db.probe'].flatMap((name) => ['-P', join(data, name)]);
    const inject = ['-e', 'trace=fcntl', '-e', 'inject=fcntl:error=ENOLCK'];
    const log = ['-o', join(await newFolder(), 'log')];
    const by = ['strace', '-D', '-f', ...log, ...paths, ...inject, ...program];
    const lacking = await pwpush(words, { ...someone, by });
    expect(lacking).toMatchObject({ code: 1, stderr: expect.stringContaining('refuses locks') });
    expect(lacking.stderr).toContain('--database');
    const database = openNative(join(data, 'pwpush.db'));
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    const locked = await pwpush(words, someone);
    database.close();
    expect(locked).toMatchObject({ code: 2, stderr: expect.stringContaining('in use by') });
    expect(readdirSync(data)).not.toContain('pwpush.db.probe');
  },
);

onSharedPostgres((databases) => {
  test.each([
    ['write', [16, 40]],
    ['writev', [8, 16]],
  ] as [CallName, [number, number]][])(
    'one of two services, killed at %s, loses nothing and gives no view twice (needs strace)',
    needsPrograms('strace'),
    async (call, steps) => {
      const data = await newFolder();
      const database = databases().localUrl(await databases().createMigrated());
      const other = await opened({ data, database });
      const words = ['--data', data, '--database', database];
      const counts = await countsOf(await stocked({ data, database }), words);
      expect(counts[call]).toBeGreaterThan(0);
      for (const nth of inSteps(upTo(counts[call]), stepOf(steps))) {
        const stock = await stocked({ data, database });
        const how = { log: join(data, 'log'), call, effect: 'KILL', when: `${nth}` } as const;
        const { answers, where } = await broken(stock, words, how);
        await judge(other, stock, answers, { where });
      }
      await other.close();
    },
  );
});
