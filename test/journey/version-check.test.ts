import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { person, pwpush, wire } from '../helpers/program';

const somebody = person();
const { version } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as { version: string };
const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);

/** An environment in which everything is set that must not be sent. */
const personal = {
  ...somebody.env,
  PWPUSH_URL: 'https://pwpush.example',
  PWPUSH_TOKEN: 'T0ken',
  PWPUSH_PROFILE: 'work',
};

const http = (body: string | Buffer, status = '200 OK', fields = '') =>
  Buffer.concat([
    Buffer.from(
      `HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: ${body.length}\r\n${fields}\r\n`,
    ),
    Buffer.from(body),
  ]);
const manifest = (number: unknown) => http(JSON.stringify({ name: 'pwpush', version: number }));

/** Asks a server that sends `answer`; null holds the connection open. */
async function check(answer: Buffer | null, words: readonly string[] = ['--json']) {
  const registry = await wire((socket) => answer && socket.end(answer));
  const env = { ...personal, PWPUSH_LATEST_URL: `${registry.url}/pwpush/latest` };
  const { code, stdout, stderr } = await pwpush(['version', '--check', ...words], { env });
  registry.stop();
  const { host } = new URL(registry.url);
  const { error } = stderr.startsWith('{') ? JSON.parse(stderr) : { error: undefined };
  const message = error?.message.replace(host, 'HOST');
  return { code, stdout, stderr, message, requests: registry.requests, host };
}

test('says that there is a newer release, and sends nothing of the user', async () => {
  const newer = `${major}.${minor}.${patch + 10}`;
  const { code, stdout, stderr, requests, host } = await check(manifest(newer));
  expect({ code, stderr, told: JSON.parse(stdout) }).toEqual({
    code: 13,
    stderr: '',
    told: { pwpush: version, latest: newer, outdated: true },
  });
  const [line, ...fields] = (requests[0] ?? '').trimEnd().split('\r\n');
  expect([requests.length, line]).toEqual([1, 'GET /pwpush/latest HTTP/1.1']);
  expect(fields.map((field) => field.toLowerCase()).sort()).toEqual([
    'accept: application/json',
    'connection: keep-alive',
    `host: ${host}`,
    'user-agent: pwpush',
  ]);
});

test('for people prints two lines', async () => {
  const newer = `${major + 1}.0.0`;
  expect(await check(manifest(newer), [])).toMatchObject({
    code: 13,
    stdout: `pwpush\t${version}\nlatest\t${newer}\n`,
    stderr: '',
  });
});

test.each([version, '0.0.0', `${major}.0.0`])('%s is not newer', async (latest) => {
  const { code, stdout, stderr } = await check(manifest(latest));
  expect({ code, stderr, told: JSON.parse(stdout) }).toEqual({
    code: 0,
    stderr: '',
    told: { pwpush: version, latest, outdated: false },
  });
});

const unusable: Record<string, Buffer> = {
  'a pre-release': manifest('99.0.0-rc.1'),
  'text with control characters': manifest('99.0.0\u001b[2J\u202e'),
  'more than a number': manifest('99.0.0; rm -rf ~'),
  'two numbers': manifest('99.0'),
  'a number beyond reason': manifest(`${'9'.repeat(400)}.0.0`),
  'a number that is no text': manifest(99),
  'no number': http('{}'),
  null: http('null'),
  'a page': http('<!doctype html><title>Sign in to the network</title>'),
  nothing: http(''),
  'another status': http('{"version":"99.0.0"}', '503 Busy'),
  'arrays without end': http('[{},'.repeat(300_000)),
};

test.each(Object.entries(unusable))('refuses %s', async (_name, answer) => {
  const { code, stdout, message } = await check(answer);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(message).toMatch(/^HOST sent an unexpected response \((200|503)\)$/);
});

test('refuses more than 16 MiB, packed or not', async () => {
  const long = `{"version":"99.0.0","x":"${' '.repeat(17 * 2 ** 20)}"}`;
  const packed = http(gzipSync(long), '200 OK', 'content-encoding: gzip\r\n');
  for (const answer of [http(long), packed])
    expect(await check(answer)).toMatchObject({
      code: 1,
      message: 'HOST: the response is longer than 16 MiB',
    });
});

test('follows no redirect to another place, scheme or user', async () => {
  const elsewhere = await wire((socket) => socket.end(manifest('99.0.0')));
  const { port } = new URL(elsewhere.url);
  for (const target of [`${elsewhere.url}/`, `https://127.0.0.1:${port}/`, `//127.0.0.1:${port}/`])
    expect(await check(http('', '302 Found', `location: ${target}\r\n`))).toMatchObject({
      code: 1,
      message: 'HOST redirects instead of responding',
    });
  const named = 'http://ann@127.0.0.1/';
  expect((await check(http('', '302 Found', `location: ${named}\r\n`))).code).toBe(1);
  const round = await check(http('', '302 Found', 'location: /pwpush/latest\r\n'));
  expect([round.code, round.message]).toEqual([1, 'HOST redirects instead of responding']);
  expect(elsewhere.requests).toEqual([]);
  elsewhere.stop();
});

test('tells of no release, too many requests, no response and no network', async () => {
  expect(await check(http('{}', '404 Not Found'))).toMatchObject({
    code: 5,
    message: 'HOST has no release of pwpush',
  });
  const busy = http('', '429 Too Many', 'retry-after: 1\r\n');
  expect(await check(busy)).toMatchObject({ code: 10, message: 'rate limited by HOST' });
  expect(await check(null, ['--json', '--timeout', '0.2'])).toMatchObject({
    code: 11,
    message: 'HOST did not respond within 0.2 s',
  });
  const gone = await wire(() => {});
  gone.stop();
  const env = { ...personal, PWPUSH_LATEST_URL: gone.url };
  const { code, stderr } = await pwpush(['version', '--check'], { env });
  expect({ code, stderr }).toEqual({
    code: 9,
    stderr: `pwpush: ${new URL(gone.url).host} cannot be reached: the connection was refused\n`,
  });
});

test.each(['http://registry.example/', 'ftp://127.0.0.1/', 'https://ann:x@registry.example', 'x'])(
  'does not ask %s',
  async (PWPUSH_LATEST_URL) => {
    const env = { ...personal, PWPUSH_LATEST_URL };
    const { code, stderr } = await pwpush(['version', '--check'], { env });
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'pwpush: PWPUSH_LATEST_URL must be an https address without user name and password\n',
    });
  },
);

test('a build that is not of a release says that it knows no address', async () => {
  const { code, stderr } = await pwpush(['version', '--check'], { env: personal });
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr:
      'pwpush: this build does not know where releases are announced\n' +
      'hint: set PWPUSH_LATEST_URL; pwpush version --help shows how\n',
  });
});

test('is the only thing that asks for releases', async () => {
  const registry = await wire((socket) => socket.end(manifest('99.0.0')));
  const env = { ...somebody.env, PWPUSH_LATEST_URL: registry.url };
  for (const words of [['version'], ['--version'], ['list'], ['generate'], ['help']])
    await pwpush(words, { env });
  expect(registry.requests).toEqual([]);
  registry.stop();
});
