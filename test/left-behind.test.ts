import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { folders } from './helpers/memory';
import { onLinux } from './helpers/needs';

const root = join(import.meta.dirname, '..');
const folder = folders();

/** Runs files of tests under the guards, all in one worker, in a repository of their own. */
async function ran(files: Readonly<Record<string, string>>) {
  const here = await folder();
  execFileSync('git', ['init', '--quiet', here]);
  const helper = (name: string) => JSON.stringify([join(root, 'test/helpers', name)]);
  const config = join(here, 'vitest.config.mjs');
  const guards = `globalSetup: ${helper('left-behind.ts')}, setupFiles: ${helper('ended.ts')}`;
  writeFileSync(config, `export default { test: { globals: true, isolate: false, maxWorkers: 1, ${guards} } };`);
  for (const [name, code] of Object.entries(files)) {
    const file = join(here, `test/${name}.test.mjs`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${imports}\ntest(${JSON.stringify(name)}, async () => {\n${code}\n});\n`);
  }
  const words = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--config', config];
  const env = { ...process.env, PWPUSH_TEST_GRACE: '1', PWPUSH_TEST_FAILED: '', NO_COLOR: '1' };
  return { here, ...spawnSync(process.execPath, words, { cwd: here, env, encoding: 'utf8' }) };
}

const imports = `
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { homedir, tmpdir } from 'node:os';`;

test('a run that leaves nothing passes', onLinux, async () => {
  const { status, stdout, stderr } = await ran({
    plain: '',
    'server/http/timer': 'clearInterval(setInterval(() => {}, 1));',
  });
  expect([status, stderr]).toEqual([0, '']);
  expect(stdout).toContain('2 passed');
});

const NAME = `planted-${process.pid}`;

test('a run that leaves a process or a file fails, and says what', onLinux, async () => {
  const shared = ['/dev/shm', '/var/tmp'].map((place) => `${place}/${NAME}`);
  onTestFinished(() => shared.forEach((file) => void rmSync(file, { force: true })));
  const { here, status, stderr } = await ran({
    process: `
      const { pid } = spawn('/bin/sleep', ['${process.pid}'], { env: {}, cwd: '/', detached: true, stdio: 'ignore' });
      writeFileSync('pid', String(pid));`,
    files: `
      for (const place of ['/dev/shm', '/var/tmp', homedir(), tmpdir()]) writeFileSync(place + '/${NAME}', '');`,
  });
  const pid = readFileSync(join(here, 'pid'), 'utf8');
  process.kill(Number(pid));
  expect(status).toBe(1);
  const [, told = ''] = stderr.split('left these behind:\n');
  const room = expect.stringMatching(`^file .*/pw-\\w+/${NAME}$`);
  const files = ['pid', ...shared].map((file) => `file ${file}`);
  const expected = [`process ${pid} /bin/sleep ${process.pid}`, ...files, room, room];
  expect(told.split('\n').flatMap((line) => line.trim() || [])).toEqual(expected);
});

// biome-ignore format: a row for each kind
const rows: readonly (readonly [name: string, code: string, told: string])[] = [
  ['folder', "process.chdir('/');", 'the folder: '],
  ['umask', 'process.umask(0o27);', 'the umask: '],
  ['changed', "process.env.PATH += ':/x';", 'the variable PATH: '],
  ['added', "process.env.PLANTED = 'x';", 'the variable PLANTED: undefined, now x'],
  ['listener', "process.on('SIGUSR2', () => {});", 'listeners of SIGUSR2: 1, now 2'],
  ['server', 'createServer().listen(0);', 'servers: 0, now 1'],
  ['server/http/timer', 'setInterval(() => {}, 60_000).unref();', 'Timeout\n      at '],
  ['client/transport/socket', 'await new Promise((ready) => createServer().unref().listen(0, ready));', 'TCPSERVERWRAP\n      at '],
  ['client/transport/listener', "process.once('SIGUSR1', () => {});", 'listeners of SIGUSR1 of the process'],
];

test('a file fails by what it leaves to the next one, and a test by what it did not end', onLinux, async () => {
  const files = Object.fromEntries(rows.map(([name, code]) => [name, code]));
  const { status, stdout, stderr } = await ran({ ...files, plain: '' });
  expect(status).toBe(1);
  expect(stdout).toMatch(/Test Files +9 failed \| 1 passed/);
  const failures = stderr.split(' FAIL ');
  const isTold = (name: string, why: string) =>
    failures.some((failure) => failure.includes(`test/${name}.test.mjs`) && failure.includes(why));
  expect(rows.filter(([name, , why]) => !isTold(name, why))).toEqual([]);
});
