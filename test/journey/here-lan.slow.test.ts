import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needs } from '../helpers/needs';
import { person, program } from '../helpers/program';

const sender = person();
const recipient = person();

const id = process.pid;
const one = `pwpush-a-${id}`;
const other = `pwpush-b-${id}`;
const ip = (...words: string[]) => spawnSync('ip', words, { encoding: 'utf8' });

/** Two machines of a wire: a network namespace each, the first with another wire, which leads nowhere. */
function wired(): boolean {
  const done = [
    ['netns', 'add', one],
    ['netns', 'add', other],
    ['-n', one, 'link', 'add', 'aside', 'type', 'veth', 'peer', 'name', 'nowhere'],
    ['-n', one, 'link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', 'eth0', 'netns', other],
    ['-n', one, 'address', 'add', '10.99.0.1/24', 'dev', 'aside'],
    ['-n', one, 'address', 'add', '10.98.0.1/24', 'dev', 'eth0'],
    ['-n', other, 'address', 'add', '10.98.0.2/24', 'dev', 'eth0'],
    ['-n', one, 'address', 'add', 'fd00:77::1/64', 'dev', 'eth0', 'nodad'],
    ['-n', other, 'address', 'add', 'fd00:77::2/64', 'dev', 'eth0', 'nodad'],
    ...[one, other].map((name) => ['-n', name, 'link', 'set', 'lo', 'up']),
    ...[one, other].map((name) => ['-n', name, 'link', 'set', 'eth0', 'up']),
    ...['aside', 'nowhere'].map((name) => ['-n', one, 'link', 'set', name, 'up']),
    ['-n', one, 'route', 'add', 'default', 'via', '10.98.0.2'],
  ].map((words) => ip(...words).status);
  return done.every((status) => status === 0);
}

function tornDown(): void {
  ip('netns', 'delete', one);
  ip('netns', 'delete', other);
}

const works = wired();
if (!works) tornDown();
const missing = needs('network namespaces', works);
const children: ChildProcess[] = [];

beforeAll(() => {
  if (!works && !missing.skip) throw new Error('no network namespaces can be made here');
});
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  tornDown();
});

/** Starts the program on one of the two machines. */
function on(machine: string, words: string[], env: Record<string, string>, input = '') {
  const line = ['netns', 'exec', machine, ...program, ...words];
  const child = spawn('ip', line, { env, stdio: 'pipe' });
  children.push(child);
  child.stdin.end(input);
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  let said = (_link: string) => {};
  const told = new Promise<string>((resolve) => {
    said = resolve;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
    const link = /^http\S+$/m.exec(stderr)?.[0];
    if (link) said(link);
  });
  const first = new Promise<string>((resolve) => {
    createInterface({ input: child.stdout }).once('line', resolve);
  });
  const ended = new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
  return { first, told, ended };
}

describe('push --here on a LAN (needs ip netns, and to be root)', missing, () => {
  test.each([
    ['0.0.0.0', '10.98.0.1', '10.98.0.2'],
    ['::', '10.98.0.1', '10.98.0.2'],
    ['fd00:77::1', '[fd00:77::1]', 'fd00:77::2'],
  ])('--host %s: the link names %s, and works at the other machine', async (host, named, from) => {
    const serving = on(one, ['push', '--here', '--host', host], sender.env, 's3cret');
    const link = await serving.first;
    expect(new URL(link).hostname).toBe(named);
    const got = await on(other, ['get', link], recipient.env).ended;
    expect(got).toMatchObject({ code: 0, stdout: 's3cret' });
    const { code, stderr } = await serving.ended;
    expect(code).toBe(0);
    expect(stderr).toContain('warning: plain http: anyone between here and the recipient');
    expect(stderr).toContain(`${from} viewed it: 1 of 1\n`);
  });

  test('serve names that address, too', async () => {
    const words = ['serve', '--ephemeral', '--host', '0.0.0.0', '--port', '0', '--json'];
    const { url, token } = JSON.parse(await on(one, words, sender.env).first);
    expect(new URL(url).hostname).toBe('10.98.0.1');
    const env = { ...recipient.env, PWPUSH_URL: url, PWPUSH_TOKEN: token };
    const { code, stderr } = await on(other, ['push', '--anonymous'], env, 's3cret').ended;
    expect({ code, stderr }).toMatchObject({ code: 0 });
  });

  test('request: the answer of the other machine is printed, without any option', async () => {
    const receiving = on(one, ['request', '--here', 'Which code?'], sender.env);
    const link = await receiving.told;
    expect(new URL(link).hostname).toBe('10.98.0.1');
    const answered = await on(other, ['respond', link], recipient.env, '123456').ended;
    expect(answered).toMatchObject({ code: 0, stdout: '' });
    const { code, stdout, stderr } = await receiving.ended;
    expect({ code, stdout }).toEqual({ code: 0, stdout: '123456' });
    expect(stderr).toContain('warning: plain http: someone who changes the page on its way');
  });

  test('who asks too often is refused', async () => {
    const words = ['push', '--here', '--host', '10.98.0.1'];
    const serving = on(one, words, sender.env, 's3cret');
    // Until it is: a busy machine asks slowly, above all when it opens a connection for each request.
    const many = `const http = require('node:http');
      const agent = new http.Agent({ keepAlive: true });
      const ask = () => http.get('$LINK', { agent }, (response) => {
        if (response.statusCode === 429) console.log(true), process.exit();
        response.resume().on('end', ask);
      }).on('error', ask);
      for (let i = 0; i < 20; i++) ask();`;
    const script = many.replace('$LINK', await serving.first);
    // Not spawnSync: the server's messages must be read meanwhile.
    const asking = ['netns', 'exec', other, process.execPath, '-e', script];
    expect((await promisify(execFile)('ip', asking)).stdout).toBe('true\n');
    children.at(-1)?.kill('SIGTERM');
    expect((await serving.ended).code).toBe(143);
  });

  test('without a route to the world it is the first address that is not for this machine alone', async () => {
    ip('-n', one, 'route', 'delete', 'default');
    ip('-n', one, 'link', 'set', 'aside', 'down');
    const serving = on(one, ['push', '--here', '--host', '0.0.0.0'], sender.env, 's3cret');
    const link = await serving.first;
    expect((await on(other, ['get', link], recipient.env).ended).stdout).toBe('s3cret');
    expect((await serving.ended).code).toBe(0);
  });

  test('a machine of no network is told to name an address', async () => {
    ip('-n', one, 'link', 'set', 'eth0', 'down');
    ip('-n', one, 'address', 'flush', 'dev', 'eth0');
    ip('-n', one, 'address', 'flush', 'dev', 'aside');
    const serving = on(one, ['push', '--here', '--host', '0.0.0.0'], sender.env, 's3cret');
    expect(await serving.ended).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'pwpush: this machine has no address that others can reach\nhint: choose one with --host\n',
    });
  });
});
