import { once } from 'node:events';
import { copyFileSync, cpSync, mkdirSync, renameSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { connect } from 'node:tls';
import { expect, test } from 'vitest';
import { rawServer, speak } from '../helpers/listen';
import { allOf, needsPrograms } from '../helpers/needs';
import { alsoBinary, dist, launcher, makePerson, onNode, person, pwpush, started } from '../helpers/program';
import { gone, onTerminal } from '../helpers/pty';
import { nextCert, nextKey, tlsFiles } from '../server/certificate';

const home = person();

/** The built `serve`, started with these variables, until the test ends; resolves with its address once it listens. */
async function serving(words: readonly string[], env: Record<string, string> = {}) {
  const program = started(['serve', ...words], { env: { ...home.env, ...env } });
  const [, url = ''] = await program.says(/^(.*)\n/);
  return { url, ...program };
}

const inMemory = { PWPUSH_SERVE_EPHEMERAL: 'true', PWPUSH_SERVE_PORT: '0' };

test('health is that of the service that the same variables are for', async () => {
  const health = (env: Record<string, string>, ...words: string[]) =>
    pwpush(['serve', 'health', ...words], { env: { ...home.env, ...env } });
  // The name in its certificate is another one.
  const tls = tlsFiles(home.folder);
  const { url } = await serving(['--host', '127.0.0.2'], { ...inMemory, ...tls });
  const { port } = new URL(url);
  const here = { PWPUSH_SERVE_HOST: '127.0.0.2', PWPUSH_SERVE_PORT: port };
  // A proxy is for other machines, and a profile for other instances.
  const nowhere = 'http://127.0.0.1:9';
  const others = { HTTP_PROXY: nowhere, NO_PROXY: '', PWPUSH_URL: nowhere };
  const ready = { code: 0, signal: null, stdout: `${url}\n`, stderr: '' };
  expect(await health({ ...tls, ...here, ...others })).toEqual(ready);
  expect((await health(here)).code).not.toBe(0);
  const down = await rawServer((socket) => {
    socket.end('HTTP/1.1 503 Service Unavailable\r\nContent-Length: 5\r\n\r\ndown\n');
  });
  const stderr = `pwpush: ${down.url} is not ready (503)\n`;
  expect(await health({}, '--port', `${down.port}`)).toMatchObject({ code: 1, stderr });
});

test('a body that is refused before it was asked for ends the connection', alsoBinary, async () => {
  const { url } = await serving([], inMemory);
  const head = [
    ...['POST /api/v2/pushes HTTP/1.1', 'Host: localhost', 'Authorization: Bearer none'],
    ...['Content-Type: multipart/form-data; boundary=x', 'Content-Length: 9'],
    ...['Expect: 100-continue', '\r\n'],
  ];
  const { ended } = speak(Number(new URL(url).port), head.join('\r\n'));
  expect(await ended).toMatch(/^HTTP\/1\.1 401 .*\r\nconnection: close\r\n/is);
});

test('its pages, its metrics and a backup of it while it runs', alsoBinary, async () => {
  const room = makePerson();
  const data = join(room.folder, 'data');
  const env = { ...room.env, PWPUSH_SERVE_DATA: data, PWPUSH_SERVE_PORT: '0' };
  const program = await serving(['--metrics-port', '0', '--log', 'json'], env);
  const [line = ''] = await program.says(/^\{.*"event":"start".*$/m, 'stderr');
  const { url, metrics } = JSON.parse(line);
  const pushing = { env: { ...home.env, PWPUSH_URL: url }, input: 'hunter2 & <co>' };
  const link = (await pwpush(['push', '--views', '2'], pushing)).stdout.trim();
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
  const { code, stderr } = await program.ended;
  const lines = stderr.trim().split('\n');
  const entries = lines.filter((one) => one.startsWith('{'));
  expect([code, lines.length - entries.length]).toEqual([0, 1]);
  expect(JSON.parse(entries.at(-1) ?? '').event).toBe('stopped');

  copyFileSync(join(data, 'instance.key'), join(copied, 'instance.key'));
  const again = await serving([], { ...env, PWPUSH_SERVE_DATA: copied });
  const got = await pwpush(['get', link.replace(url, again.url)], { env: room.env });
  expect(got.stdout).toBe('hunter2 & <co>');
});

test('SIGHUP re-reads the certificate', alsoBinary, async () => {
  const { url, child, says } = await serving([], { ...inMemory, ...tlsFiles(home.folder) });
  tlsFiles(home.folder, nextCert, nextKey);
  child.kill('SIGHUP');
  await says(' reload certificate=read\n', 'stderr');
  const socket = connect(Number(new URL(url).port), '127.0.0.1', { ca: nextCert });
  await once(socket, 'secureConnect');
  expect(socket.authorized).toBe(true);
  socket.destroy();
});

const withFifo = allOf(alsoBinary, needsPrograms('mkfifo'));
test('on a terminal it says what to type elsewhere, and stops when hung up', withFifo, async () => {
  const { env } = makePerson();
  const ended = gone(env);
  const terminal = onTerminal('exec $PWPUSH serve --port 0 3>"$HOME/alive"', env);
  // The address itself, not the line of the log that tells it: what cannot be printed is a failure.
  await terminal.shows('\nhttp://127.0.0.1');
  await terminal.shows('in another terminal: pwpush push');
  expect(terminal.screen()).toMatch(/ kept in profile "local":\s+pwp_/);
  terminal.hangUp();
  await ended;
});

test('pages are served while the files of the program are away, and after', onNode, async () => {
  const at = (name: string) => join(home.folder, 'program', name);
  cpSync(dirname(launcher), at('bin'), { recursive: true });
  cpSync(dist, at('dist'), { recursive: true });
  symlinkSync(join(dist, '../node_modules'), at('node_modules'));
  const by = [process.execPath, at('bin/pwpush.js')];
  const service = started(['serve'], { env: { ...home.env, ...inMemory }, by });
  const [, url = ''] = await service.says(/^(.*)\n/);
  const status = async (locale: string) => (await fetch(`${url}/?locale=${locale}`)).status;
  renameSync(at('dist'), at('aside'));
  expect([await status('fr'), await status('en')]).toEqual([200, 200]);
  renameSync(at('aside'), at('dist'));
  expect([await status('fr'), await status('ja')]).toEqual([200, 200]);
});
