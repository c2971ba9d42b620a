import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { alsoBinary, person, pwpush, serving, start } from '../helpers/program';
import { onTerminal } from '../helpers/pty';

const somebody = person();
serving(somebody.env);
const { env, folder } = somebody;
const got = join(folder, 'got');
const state = join(folder, 'state');
const into = (line: string) => ['push', '--generate', '--into', '--', 'sh', '-c', line];

/** Paths of the rescue files since the last test. */
let before: string[] = [];
const allSaved = () =>
  readdirSync(state, { recursive: true, encoding: 'utf8' })
    .filter((name) => /^secret-/.test(name))
    .map((name) => join(state, name));
const saved = () => allSaved().filter((path) => !before.includes(path));
afterEach(() => {
  before = allSaved();
});

/** Resolves with how many pushes there are. */
async function pushes(): Promise<number> {
  const { stdout } = await pwpush(['list', '--json'], { env });
  return JSON.parse(stdout).length;
}

/** Starts it, and waits until the command has the secret. */
async function setting(line: string) {
  const { child, ended } = start(into(`cat >'${got}'; echo ready; ${line}`), { env, input: '' });
  let said = '';
  const says = (text: string) =>
    new Promise<void>((resolve) => {
      const check = () => said.includes(text) && resolve();
      child.stderr?.on('data', check);
      check();
    });
  child.stderr?.on('data', (chunk: string) => {
    said += chunk;
  });
  await says('ready\n');
  return { child, ended, says };
}

describe('a signal while the command runs', () => {
  test.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
    ['SIGHUP', 129],
  ] as const)('%s: nothing is pushed, and the secret is saved', async (signal, wanted) => {
    const count = await pushes();
    const { child, ended } = await setting('while :; do sleep 0.1; done');
    child.kill(signal);
    const { code, stdout, stderr } = await ended;
    expect({ code, stdout, count: await pushes() }).toEqual({ code: wanted, stdout: '', count });
    const [path = ''] = saved();
    expect(readFileSync(path, 'utf8')).toBe(readFileSync(got, 'utf8'));
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(stderr).toContain(path);
  });

  test('and the command succeeds all the same: nothing is pushed', async () => {
    const count = await pushes();
    const { child, ended, says } = await setting(
      'trap "echo heard; exit 0" TERM; echo set; while :; do sleep 0.1; done',
    );
    await says('set\n');
    child.kill('SIGTERM');
    const { code } = await ended;
    expect({ code, saved: saved().length, count: await pushes() }).toEqual({
      code: 143,
      saved: 1,
      count,
    });
  });

  test('that the command ignores: the secret is saved at once, so that we may be killed', async () => {
    const { child, ended, says } = await setting(
      'echo pid $$.; trap "echo heard" TERM; echo set; while :; do sleep 0.1; done',
    );
    await says('set\n');
    child.kill('SIGTERM');
    await says('heard\n');
    child.kill('SIGKILL');
    const { stderr } = await ended.catch(() => ({ stderr: '' }));
    process.kill(Number(/pid (\d+)\./.exec(stderr)?.[1]), 'SIGKILL');
    expect(saved().map((path) => readFileSync(path, 'utf8'))).toEqual([readFileSync(got, 'utf8')]);
  });
});

test('Ctrl-C ends the command and us; the secret is saved', alsoBinary, async () => {
  const words = into(`cat >'${got}'; echo ready; while :; do sleep 0.1; done`);
  const line = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
  const terminal = onTerminal(`exec $PWPUSH ${line}`, env);
  await terminal.shows('ready');
  terminal.type('\u0003');
  expect(await terminal.ended).toBe(130);
  expect(saved().map((path) => readFileSync(path, 'utf8'))).toEqual([readFileSync(got, 'utf8')]);
});

test('the secret is in no argument, and in no file but that of the command', async () => {
  const line = `cat >'${got}'; cat /proc/$PPID/cmdline /proc/$PPID/environ /proc/self/environ >'${got}.seen'`;
  const { code } = await pwpush(into(line), { env });
  expect({ code, saved: saved() }).toEqual({ code: 0, saved: [] });
  const value = readFileSync(got);
  expect(readFileSync(`${got}.seen`).includes(value)).toBe(false);
  const holding = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('data'))
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => path !== got && !before.includes(path) && readFileSync(path).includes(value));
  expect(holding).toEqual([]);
});
