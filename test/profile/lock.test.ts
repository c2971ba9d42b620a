import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { build } from 'rolldown';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runs } from '../../src/platform/process';
import { withLock } from '../../src/profile/lock';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pwpush-lock-'));
  path = join(folder, 'lock');
});
afterEach(() => rmSync(folder, { recursive: true }));

const tools = {
  now: () => new Date(),
  sleep: async () => void (await setImmediate()),
  pid: process.pid,
  runs,
};
/** The same, each wait a second long. */
function hurried() {
  let time = Date.now();
  const sleep = async () => {
    time += 1000;
  };
  return { ...tools, now: () => new Date(time), sleep };
}
const claims = () => readdirSync(folder).filter((name) => name.startsWith('lock.'));

/** Counts in a file under the lock, and fails if another is inside; the last time it may die there. */
const COUNTING = `
const fs = require('node:fs');
const { withLock } = require('./withLock.js');
const [, , rounds, dies] = process.argv;
const runs = (pid) => { try { return process.kill(pid, 0); } catch { return false; } };
const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const tools = { now: () => new Date(), sleep, pid: process.pid, runs };
(async () => {
  for (let round = 1; round <= rounds; round++)
    await withLock('lock', tools, async () => {
      fs.writeFileSync('inside', '', { flag: 'wx' });
      const count = Number(fs.readFileSync('count', 'utf8'));
      await new Promise(setImmediate);
      fs.writeFileSync('count', String(count + 1));
      fs.rmSync('inside');
      if (dies && round === Number(rounds)) process.kill(process.pid, 'SIGKILL');
    });
})();
`;

test('of several processes one holds it at a time, also when holders are killed', async () => {
  await build({
    input: join(import.meta.dirname, '../../src/profile/lock.ts'),
    platform: 'node',
    logLevel: 'silent',
    output: { file: join(folder, 'withLock.js'), format: 'cjs' },
  });
  writeFileSync(join(folder, 'counting.js'), COUNTING);
  writeFileSync(join(folder, 'count'), '0');
  const ends = await Promise.all(
    ['', 'dies', '', 'dies', '', 'dies'].map((dies) => {
      const words = ['counting.js', '10', dies];
      const child = spawn(process.execPath, words, { cwd: folder, stdio: ['ignore', 'pipe', 2] });
      return new Promise((resolve) =>
        child.once('close', (code, signal) => resolve(code ?? signal)),
      );
    }),
  );
  expect(ends).toEqual([0, 'SIGKILL', 0, 'SIGKILL', 0, 'SIGKILL']);
  expect(readFileSync(join(folder, 'count'), 'utf8')).toBe('60');
  await withLock(path, tools, async () => {});
  expect(claims()).toEqual([]);
});

test('a holder that takes long keeps it; another gives up in the end', async () => {
  await withLock(path, tools, async () => {
    const [held = ''] = claims();
    await expect(withLock(path, hurried(), async () => {})).rejects.toMatchObject({
      code: 'failed',
      message: `locked by another pwpush: "${join(folder, held)}"`,
      hint: 'remove that file if no other pwpush is running',
    });
    expect(claims()).toEqual([held]);
  });
  expect(claims()).toEqual([]);
});

/** Makes the claim that is held look like one of a process with these properties. */
function changeClaim(change: { reach?: string; start?: string }): string {
  const [held = ''] = claims();
  const [name, id, reach, pid, start] = held.split('.');
  const changed = [name, id, change.reach ?? reach, pid, change.start ?? start].join('.');
  renameSync(join(folder, held), join(folder, changed));
  return changed;
}

test('a claim of another machine counts until it is no longer renewed', async () => {
  await withLock(path, tools, async () => {
    const other = changeClaim({ reach: 'elsewhere' });
    let waits = 0;
    const { sleep, ...others } = hurried();
    const counting = async () => {
      waits += 1;
      await sleep();
    };
    await withLock(path, { ...others, sleep: counting }, async () => {
      expect(claims()).toHaveLength(1);
      expect(claims()).not.toContain(other);
    });
    expect(waits).toBeGreaterThanOrEqual(20);
  });
});

test.runIf(process.platform === 'linux')(
  'a process that got the number of a dead holder does not keep the lock',
  async () => {
    await withLock(path, tools, async () => {
      const dead = changeClaim({ start: '1' });
      await withLock(path, tools, async () => expect(claims()).not.toContain(dead));
    });
  },
);
