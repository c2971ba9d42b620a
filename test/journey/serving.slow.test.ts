import { once } from 'node:events';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect as plain } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { connect } from 'node:tls';
import { afterAll, describe, expect, test } from 'vitest';
import { rawServer } from '../helpers/listen';
import { alsoBinary, makePerson, person, pwpush, type Running, start } from '../helpers/program';
import { onTerminal } from '../helpers/pty';
import { cert, key, nextCert, nextKey } from '../server/certificate';

const home = person();
const running: Running[] = [];
afterAll(async () => {
  for (const { child, ended } of running) {
    child.kill('SIGKILL');
    await ended;
  }
});

/** The built `serve`, started with these variables; resolves with its address once it listens. */
async function serving(words: readonly string[], env: Record<string, string> = {}) {
  const program = start(['serve', ...words], { env: { ...home.env, ...env } });
  running.push(program);
  const lines = createInterface({ input: program.child.stdout as NodeJS.ReadableStream });
  const [url] = (await once(lines, 'line')) as [string];
  return { url, ...program };
}

/** Resolves once the log on stderr has such a line. */
async function logs({ child }: Running, pattern: RegExp): Promise<string> {
  const lines = createInterface({ input: child.stderr as NodeJS.ReadableStream });
  for await (const line of lines) if (pattern.test(line)) return line;
  throw new Error(`it never logged ${pattern}`);
}

const inMemory = { PWPUSH_SERVE_EPHEMERAL: 'true', PWPUSH_SERVE_PORT: '0' };

describe('variables', () => {
  test('stand for options, which outrank them', async () => {
    const told = { ...inMemory, PWPUSH_SERVE_ANONYMOUS: 'no', PWPUSH_SERVE_HOST: '192.0.2.1' };
    const { url } = await serving(['--host', 'localhost'], told);
    expect(url).toMatch(/^http:\/\/localhost:\d+$/);
    expect((await fetch(`${url}/api/v2/pushes/x`)).status).toBe(401);
  });

  test('--anonymous outranks PWPUSH_SERVE_ANONYMOUS=false', async () => {
    const told = { ...inMemory, PWPUSH_SERVE_ANONYMOUS: 'false' };
    const { url } = await serving(['--anonymous'], told);
    expect((await fetch(`${url}/api/v2/pushes/x`)).status).toBe(404);
  });
});

describe('health', () => {
  const health = (env: Record<string, string>, ...words: string[]) =>
    pwpush(['serve', 'health', ...words], { env: { ...home.env, ...env } });

  test('is that of the service that the same variables are for', async () => {
    const { url } = await serving([], inMemory);
    const { port } = new URL(url);
    const env = { PWPUSH_SERVE_PORT: port, PWPUSH_SERVE_HOST: '0.0.0.0' };
    const ready = { code: 0, signal: null, stdout: `${url}\n`, stderr: '' };
    // A proxy is for other machines, and a profile for other instances.
    const proxy = { HTTP_PROXY: 'http://127.0.0.1:9', NO_PROXY: '' };
    expect(await health({ ...env, ...proxy, PWPUSH_URL: 'http://127.0.0.1:9' })).toEqual(ready);
    expect(await health({}, '--port', port, '--json')).toEqual({
      ...ready,
      stdout: `{"url":"${url}"}\n`,
    });
  });

  test('is that of a service with TLS, whatever the name in its certificate', async () => {
    const [tlsCert, tlsKey] = ['health.pem', 'health.key'].map((name) => join(home.folder, name));
    writeFileSync(tlsCert ?? '', cert);
    writeFileSync(tlsKey ?? '', key);
    const env = { PWPUSH_SERVE_TLS_CERT: tlsCert ?? '', PWPUSH_SERVE_TLS_KEY: tlsKey ?? '' };
    const { url } = await serving(['--host', '127.0.0.2'], { ...inMemory, ...env });
    const here = { PWPUSH_SERVE_HOST: '127.0.0.2', PWPUSH_SERVE_PORT: new URL(url).port };
    expect(await health({ ...env, ...here })).toMatchObject({ code: 0, stdout: `${url}\n` });
    expect((await health(here)).code).not.toBe(0);
  });

  test('is bad where nothing listens, and where the service is not ready', async () => {
    expect(await health({ PWPUSH_SERVE_PORT: '9' })).toEqual({
      code: 9,
      signal: null,
      stdout: '',
      stderr: expect.stringMatching(
        /^pwpush: 127.0.0.1:9 cannot be reached: the connection was refused\n/,
      ),
    });
    const down = await rawServer((socket) => {
      socket.end('HTTP/1.1 503 Service Unavailable\r\nContent-Length: 5\r\n\r\ndown\n');
    });
    const { port } = new URL(down.url);
    expect(await health({ PWPUSH_SERVE_PORT: port })).toMatchObject({
      code: 1,
      stderr: `pwpush: ${down.url} is not ready (503)\n`,
    });
    await down.close();
  });
});

test('--no-first-token creates none', async () => {
  const data = join(home.folder, 'no-token');
  const env = { PWPUSH_SERVE_DATA: data, PWPUSH_SERVE_FIRST_TOKEN: 'false' };
  const program = await serving(['--port', '0', '--json'], env);
  expect(JSON.parse(program.url)).toEqual({ url: expect.any(String) });
  const token = (...words: string[]) =>
    pwpush(['serve', 'token', ...words, '--data', data], { env: home.env });
  expect(await token('list')).toMatchObject({ code: 0, stdout: '' });
  expect(await token('add', 'alice')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^pwp_/),
  });
  program.child.kill('SIGTERM');
  expect(await program.ended).toMatchObject({
    code: 0,
    stderr: expect.not.stringMatching(/token/),
  });
});

test('a body that is refused before it was asked for ends the connection', alsoBinary, async () => {
  const { url } = await serving([], inMemory);
  const socket = plain(Number(new URL(url).port), '127.0.0.1');
  const length = 'Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 9';
  socket.write(
    `POST /api/v2/pushes HTTP/1.1\r\nHost: localhost\r\n${length}\r\nAuthorization: Bearer none\r\nExpect: 100-continue\r\n\r\n`,
  );
  const [head] = await once(socket, 'data');
  socket.destroy();
  expect(String(head)).toMatch(/^HTTP\/1\.1 401 .*\r\nconnection: close\r\n/is);
});

test('its pages, its metrics and a backup of it while it runs', alsoBinary, async () => {
  const room = makePerson();
  const data = join(room.folder, 'data');
  const env = { ...room.env, PWPUSH_SERVE_DATA: data, PWPUSH_SERVE_PORT: '0' };
  const program = start(['serve', '--metrics-port', '0', '--log', 'json'], { env });
  running.push(program);
  const { url, metrics } = JSON.parse(await logs(program, /"event":"start"/));
  const as = { ...home.env, PWPUSH_URL: url };
  const push = async (secret: string) =>
    (await pwpush(['push', '--views', '2'], { env: as, input: secret })).stdout.trim();

  const link = await push('hunter2 & <co>');
  const first = await fetch(link);
  expect(first.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(await first.text()).not.toContain('hunter2');
  const opened = await fetch(link, { method: 'POST', body: new URLSearchParams() });
  expect(await opened.text()).toContain('hunter2 &amp; &lt;co&gt;');
  expect(await (await fetch(metrics)).text()).toContain('pwpush_http_requests_total{');

  const copied = join(room.folder, 'copied');
  mkdirSync(copied);
  const backup = await pwpush(['serve', 'backup', join(copied, 'pwpush.db')], { env });
  expect(backup).toMatchObject({ code: 0 });
  program.child.kill('SIGTERM');
  expect((await program.ended).code).toBe(0);

  copyFileSync(join(data, 'instance.key'), join(copied, 'instance.key'));
  const again = await serving([], { ...env, PWPUSH_SERVE_DATA: copied });
  const moved = link.replace(url, again.url);
  const { stdout } = await pwpush(['get', moved], { env: room.env });
  expect(stdout).toBe('hunter2 & <co>');
});

describe('SIGHUP', () => {
  test('re-reads the certificate', alsoBinary, async () => {
    const [tlsCert, tlsKey] = ['cert.pem', 'key.pem'].map((name) => join(home.folder, name));
    const names = { PWPUSH_SERVE_TLS_CERT: tlsCert ?? '', PWPUSH_SERVE_TLS_KEY: tlsKey ?? '' };
    const keep = (certificate: string, privateKey: string) => {
      writeFileSync(tlsCert ?? '', certificate);
      writeFileSync(tlsKey ?? '', privateKey);
    };
    keep(cert, key);
    const program = await serving([], { ...inMemory, ...names });
    keep(nextCert, nextKey);
    const reloaded = logs(program, / reload certificate=read$/);
    program.child.kill('SIGHUP');
    await reloaded;
    const socket = connect(Number(new URL(program.url).port), '127.0.0.1', { ca: nextCert });
    await once(socket, 'secureConnect');
    expect(socket.authorized).toBe(true);
    socket.destroy();
  });

  test('is a line in the log where there is nothing to reload', async () => {
    const program = await serving([], { ...inMemory, PWPUSH_SERVE_LOG: 'json' });
    const line = logs(program, /"event":"reload"/);
    program.child.kill('SIGHUP');
    expect(JSON.parse(await line)).toMatchObject({ level: 'info', certificate: 'none' });
    expect((await fetch(`${program.url}/up`)).status).toBe(200);
  });

  test('stops it where its terminal hangs up', alsoBinary, async () => {
    const terminal = onTerminal('exec $PWPUSH serve', { ...home.env, ...inMemory });
    // The address itself, not the line of the log that tells it: what cannot be printed is a failure.
    await terminal.shows('\nhttp://127.0.0.1');
    terminal.hangUp();
    expect(await terminal.ended).toBe(0);
  });
});

test('the first start on a terminal ends with what to type in another one', async () => {
  const terminal = onTerminal('exec $PWPUSH serve --port 0', home.env);
  await terminal.shows('in another terminal: pwpush push');
  expect(terminal.screen()).toContain('saved as profile "local"');
  terminal.hangUp();
  expect(await terminal.ended).toBe(0);
});

describe('what goes to stderr', () => {
  const TOKEN = /^token of admin, shown only now: pwp_[\w-]{43}$/;
  const exposed = { ...inMemory, PWPUSH_SERVE_HOST: '0.0.0.0' };
  const warning = 'listening on 0.0.0.0 without TLS: secrets and tokens can be read in transit';

  /** All lines on stderr of a elsewhere once, and stopped. */
  async function said(words: readonly string[]): Promise<string[]> {
    const { url, child, ended } = await serving(words, exposed);
    await fetch(`${url}/up`);
    child.kill('SIGTERM');
    return (await ended).stderr.trimEnd().split('\n');
  }

  test('with --quiet, warnings and the token that is shown only now', async () => {
    expect(await said(['--quiet'])).toEqual([`warning: ${warning}`, expect.stringMatching(TOKEN)]);
  });

  test('with --log json, JSON lines and that token', async () => {
    const lines = await said(['--log', 'json']);
    expect(lines.filter((line) => TOKEN.test(line))).toHaveLength(1);
    const entries = lines.filter((line) => !TOKEN.test(line)).map((line) => JSON.parse(line));
    expect(entries).toMatchObject([
      { level: 'warning', event: 'warning', message: warning },
      { level: 'info', event: 'start', url: expect.stringMatching(/^http:/), version: '0.1.0' },
      { level: 'info', event: 'request', method: 'GET', route: '/up', status: 200, bytes: 3 },
      { level: 'info', event: 'stopping' },
      { level: 'info', event: 'stopped' },
    ]);
  });
});

test('the example "For a team" of the manual: its members push, anyone with the link opens', async () => {
  const manual = readFileSync(new URL('../../man/pwpush-serve.1', import.meta.url), 'utf8');
  const [, example = ''] = /For a team: .*?\n\.Bd .*?\n(.*?)\.Ed/s.exec(manual) ?? [];
  const [serve, add] = example.replaceAll('\\-', '-').replaceAll('\\e\n', '').trim().split('\n');
  expect(serve).toContain('--no-anonymous');
  const team = makePerson();
  const data = ['--data', join(team.folder, 'data')];
  const pem = { 'cert.pem': cert, 'key.pem': key };
  for (const [name, text] of Object.entries(pem)) writeFileSync(join(team.folder, name), text);
  // A free port, and an address of this machine in place of the public one.
  const typed = serve?.replace(/^\$ pwpush serve/, '').replace(/--public-url \S+/, '') ?? '';
  const words = typed.split(/\s+/).filter((word) => word !== '');
  const placed = words.map((word) => (word in pem ? join(team.folder, word) : word));
  const { url, child, ended } = await serving([...placed, ...data, '--port', '0'], team.env);
  const base = `https://localhost:${new URL(url).port}`;
  const toAdd = add?.replace(/^\$ pwpush /, '').split(' ') ?? [];
  const { stdout: token } = await pwpush([...toAdd, ...data], { env: team.env });
  const env = { ...home.env, PWPUSH_URL: base, PWPUSH_CA_FILE: join(team.folder, 'cert.pem') };
  const alice = { ...env, PWPUSH_TOKEN: token.trim() };
  const made = await pwpush(['push', '--views', '2'], { env: alice, input: 'hunter2' });
  expect(made).toMatchObject({ code: 0, stderr: expect.not.stringContaining('error') });
  expect((await pwpush(['push'], { env, input: 'x' })).code).toBe(3);
  expect(await pwpush(['get', made.stdout.trim()], { env })).toMatchObject({ stdout: 'hunter2' });
  const listed = await pwpush(['list', '--json'], { env: alice });
  expect(JSON.parse(listed.stdout)).toMatchObject([{ views_remaining: 1 }]);
  child.kill('SIGTERM');
  await ended;
});
