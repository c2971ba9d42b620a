import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { connectedProgram, SECRET } from '../helpers/mcp';
import { allOf, needsFile, needsPrograms } from '../helpers/needs';
import { alsoBinary, person, pwpush, serving } from '../helpers/program';

const operator = person();
serving(operator.env);

const nowhere = person();

const root = join(operator.folder, 'root');
beforeAll(() => {
  mkdirSync(root);
  writeFileSync(join(root, 'db.env'), `PASSWORD=${SECRET}\n`);
});
const words = ['--root', root, '--env', 'DB_PASSWORD', '--debug'];
const env = { ...operator.env, DB_PASSWORD: SECRET };

// Both versions of the protocol: test/commands/mcp/tools.test.ts.
test('a client starts the program, hands over secrets and ends it', alsoBinary, async () => {
  const { client, call, close, child, transcript } = await connectedProgram(words, { env });
  expect((await client.listTools()).tools).toHaveLength(9);
  const { html_url: link } = JSON.parse(await call('push', { file: 'db.env', as_text: true }));
  expect(await call('save', { link, file: 'copy' })).toBe('saved copy (27 B)');
  expect(readFileSync(join(root, 'copy'), 'utf8')).toBe(`PASSWORD=${SECRET}\n`);
  expect(await call('push', { env: 'DB_PASSWORD', encrypt: true })).toMatch(/#[\w-]{22}"/);
  // It goes on after what is no message.
  child.stdin?.write('not JSON\n{"jsonrpc":"2.0"}\n[]\n\n');
  expect(await call('list')).toMatch(/^\[/);
  const { code, signal, stderr } = await close();
  expect([code, signal]).toEqual([0, null]);
  expect(stderr).toMatch(/^debug: /);
  expect(`${transcript.join('\n')}${stderr}`).not.toContain(SECRET);
});

test('a question of this machine has its link and its answer by events', alsoBinary, async () => {
  const { call, close } = await connectedProgram(['--root', root], { env: nowhere.env });
  const told = await call('ask', { question: 'The password?', file: 'answer' });
  const link = /http:\/\/127\.0\.0\.1\S+/.exec(told)?.[0] ?? '';
  await pwpush(['respond', link], { env: nowhere.env, input: SECRET });
  expect(await call('wait', { link, seconds: 30 })).toBe('saved answer (17 B)');
  await close();
});

test.each([
  ['a cancelled call', undefined, 0],
  ['SIGTERM', 'SIGTERM', 0],
  ['SIGKILL', 'SIGKILL', null],
] as const)('%s ends a program that runs', alsoBinary, async (name, signal, code) => {
  const [ready, gone] = ['ready', 'gone'].map((file) => join(root, `${name}-${file}`));
  const line = `trap 'echo >"${gone}"; exit' TERM; echo >"${ready}"; while :; do sleep 0.05; done`;
  const started = await connectedProgram([...words, '--allow-run', 'sh'], { env });
  const { call, client, child, close, ended } = started;
  const { html_url: link } = JSON.parse(await call('push', { generate: 20 }));
  const given = { link, as: 'A', command: ['sh', '-c', line] };
  const stop = new AbortController();
  const running = client.callTool({ name: 'run', arguments: given }, { signal: stop.signal }).catch(() => 'closed');
  const isGone = () => existsSync(`${gone}`);
  await expect.poll(() => existsSync(`${ready}`), { message: 'the command runs' }).toBe(true);
  if (signal) child.kill(signal);
  else {
    stop.abort();
    await expect.poll(isGone, { message: 'the command has ended' }).toBe(true);
    expect(await call('list')).toMatch(/^\[/);
    await close();
  }
  expect((await ended).code).toBe(code);
  // Only one that is killed cannot wait for it.
  if (signal === 'SIGKILL') await expect.poll(isGone, { message: 'the command has ended' }).toBe(true);
  expect(isGone()).toBe(true);
  await client.close();
  expect(await running).toBe('closed');
});

const needed = allOf(needsFile('/proc/self/environ'), needsPrograms('pgrep'));
test('its own run has no link in its arguments, and no variable of --env', needed, async () => {
  const { call, close, child } = await connectedProgram(words, { env });
  const { html_url: link } = JSON.parse(await call('push', { generate: 20, encrypt: true }));
  const waiting = call('wait', { link, seconds: 3600 }).catch(() => 'closed');
  const runs = () => execFileSync('pgrep', ['-P', `${child.pid}`], { encoding: 'utf8' }).split('\n');
  await expect.poll(runs, { message: 'both runs are there' }).toHaveLength(2);
  const of = (file: string) => readFileSync(`/proc/${runs()[0]}/${file}`, 'latin1');
  expect(of('cmdline')).toMatch(/\0__handed-over\0$/);
  expect(of('environ')).not.toContain(SECRET);
  expect(await close()).toMatchObject({ code: 0 });
  expect(await waiting).toBe('closed');
});

test('the home of a user and the whole system are no root unless they are named', async () => {
  for (const cwd of ['/', operator.folder]) {
    const refused = await pwpush(['mcp'], { env, cwd });
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('--root FOLDER')]);
    expect((await pwpush(['mcp', '--root', '.'], { env, cwd })).code).toBe(0);
  }
});
