import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { connectedProgram, eras } from '../helpers/mcp';
import { allOf, needsFile, needsPrograms } from '../helpers/needs';
import { alsoBinary, person, pwpush, serving } from '../helpers/program';

const SECRET = 'marker-Xq7pLw2vT9';
const operator = person();
serving(operator.env);

const root = join(operator.folder, 'root');
beforeAll(() => {
  mkdirSync(root);
  writeFileSync(join(root, 'db.env'), `PASSWORD=${SECRET}\n`);
});
const words = ['--root', root, '--env', 'DB_PASSWORD', '--debug'];
const env = { ...operator.env, DB_PASSWORD: SECRET };

describe.each(eras)('version %s', (era) => {
  test(
    'a client starts the program, hands over secrets, and ends it by closing its input',
    alsoBinary,
    async () => {
      const { client, call, close, transcript } = await connectedProgram(words, { env }, { era });
      expect((await client.listTools()).tools).toHaveLength(9);
      const { html_url: link } = JSON.parse(await call('push', { file: 'db.env', as_text: true }));
      const file = `copy-${era}`;
      expect(await call('save', { link, file })).toBe(`saved to ${file}, 27 bytes`);
      expect(readFileSync(join(root, file), 'utf8')).toBe(`PASSWORD=${SECRET}\n`);
      expect(await call('push', { env: 'DB_PASSWORD', encrypt: true })).toMatch(/#[\w-]{22}"/);
      const { code, signal, stderr } = await close();
      expect([code, signal]).toEqual([0, null]);
      expect(stderr).toMatch(/^debug: /);
      expect(`${transcript.join('\n')}${stderr}`).not.toContain(SECRET);
    },
  );

  test.each(['SIGTERM', 'SIGINT'] as const)('%s ends it in the middle of a call', async (name) => {
    const started = await connectedProgram(words, { env }, { era });
    const { html_url: link } = JSON.parse(await started.call('push', { generate: 20 }));
    const waiting = started.call('wait', { link, seconds: 3600 }).catch(() => 'closed');
    await started.call('list');
    started.child.kill(name);
    expect(await started.ended).toMatchObject({ code: 0, signal: null });
    await started.client.close();
    expect(await waiting).toBe('closed');
  });
});

test('a question of this machine is closed with the server', async () => {
  const nowhere = { ...env, PWPUSH_CONFIG_DIR: join(operator.folder, 'none') };
  const { call, close } = await connectedProgram(words, { env: nowhere });
  const told = await call('ask', { question: 'The password?', file: 'answer' });
  const link = /http:\/\/127\.0\.0\.1:\d+\S+/.exec(told)?.[0] ?? '';
  expect((await fetch(link)).status).toBe(200);
  expect(await close()).toMatchObject({ code: 0, signal: null });
  await expect(fetch(link)).rejects.toThrow();
  expect(existsSync(join(root, 'answer'))).toBe(false);
});

/** Starts the program with a call that runs a program until it gets SIGTERM. */
async function withProgram(name: string) {
  const [ready, gone] = ['ready', 'gone'].map((file) => join(root, `${name}-${file}`));
  const line = `trap 'echo >${gone}; exit' TERM; echo >${ready}; while :; do sleep 0.05; done`;
  const started = await connectedProgram([...words, '--allow-run', 'sh'], { env });
  const { html_url: link } = JSON.parse(await started.call('push', { generate: 20 }));
  const given = { link, as: 'A', command: ['sh', '-c', line] };
  const stop = new AbortController();
  const running = started.client
    .callTool({ name: 'run', arguments: given }, { signal: stop.signal })
    .catch(() => 'closed');
  await expect.poll(() => existsSync(`${ready}`)).toBe(true);
  return { ...started, running, stop, isGone: () => existsSync(`${gone}`) };
}

test('SIGTERM ends a program that runs, too', alsoBinary, async () => {
  const { child, client, ended, running, isGone } = await withProgram('signal');
  child.kill('SIGTERM');
  expect(await ended).toMatchObject({ code: 0, signal: null });
  expect(isGone()).toBe(true);
  await client.close();
  expect(await running).toBe('closed');
});

test('a server that is killed leaves no program', alsoBinary, async () => {
  const { child, client, ended, running, isGone } = await withProgram('killed');
  child.kill('SIGKILL');
  await ended;
  await expect.poll(isGone).toBe(true);
  await client.close();
  expect(await running).toBe('closed');
});

test('a cancelled call ends its program, and the server goes on', async () => {
  const { call, close, running, stop, isGone } = await withProgram('cancel');
  stop.abort();
  expect(await running).toBe('closed');
  await expect.poll(isGone).toBe(true);
  expect(await call('list')).toMatch(/^\[/);
  expect(await close()).toMatchObject({ code: 0 });
});

test(
  'a run of its own has no link in its arguments, and no variable of --env',
  allOf(needsFile('/proc/self/environ'), needsPrograms('pgrep')),
  async () => {
    const { call, close, child } = await connectedProgram(words, { env });
    const { html_url: link } = JSON.parse(await call('push', { generate: 20, encrypt: true }));
    const waiting = call('wait', { link, seconds: 3600 }).catch(() => 'closed');
    const runs = () =>
      execFileSync('pgrep', ['-P', `${child.pid}`], { encoding: 'utf8' }).split('\n');
    await expect.poll(runs).toHaveLength(2);
    const of = (file: string) => readFileSync(`/proc/${runs()[0]}/${file}`, 'latin1');
    expect(of('cmdline')).toMatch(/\0__handed-over\0$/);
    expect(of('environ')).not.toContain(SECRET);
    expect(await close()).toMatchObject({ code: 0 });
    expect(await waiting).toBe('closed');
  },
);

test('the home of a user and the whole system are no root unless they are named', async () => {
  for (const cwd of ['/', operator.folder]) {
    const refused = await pwpush(['mcp'], { env, cwd });
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('--root FOLDER')]);
    expect((await pwpush(['mcp', '--root', '.'], { env, cwd })).code).toBe(0);
  }
});

test('goes on after an invalid message, and while a client sends nothing', async () => {
  const { call, close, child } = await connectedProgram(words, { env });
  child.stdin?.write('not JSON\n{"jsonrpc":"2.0"}\n[]\n\n');
  expect(await call('list')).toMatch(/^\[/);
  expect(await close()).toMatchObject({ code: 0 });
});
