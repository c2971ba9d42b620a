import { once } from 'node:events';
import { fstatSync } from 'node:fs';
import { stat, writeFile } from 'node:fs/promises';
import { Agent, request as httpRequest } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeEach, describe, expect, test } from 'vitest';
import { isLoopback } from '../../src/contract/address';
import { passphraseChecks } from '../../src/server/keys/primitives';
import { outwardUrl } from '../../src/server/ops/listen';
import { ServiceError } from '../../src/server/service';
import type { ServiceSettings } from '../../src/server/service-settings';
import { listen, speak } from '../helpers/listen';
import { folders } from '../helpers/memory';
import { sqliteIn } from '../helpers/stores';
import { type Started, started } from './on-sockets';

const newFolder = folders();
let folder: string;
let data: string;

beforeEach(async () => {
  folder = await newFolder();
  data = join(folder, 'data');
});

/** What was logged, but for its start and end. */
const requestsIn = ({ lines }: Started) => lines.filter((line) => !/ (?:start|stopping|stopped)\b/.test(line));

/** Starts a service that cannot; what it says, and whether its settings are at fault. */
async function failure(settings: Partial<ServiceSettings>): Promise<ServiceError> {
  const error = await started(settings).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ServiceError);
  return error as ServiceError;
}

const statusOf = async (url: string, token?: string) => {
  const init = token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } };
  return (await fetch(url, init)).status;
};
const version = (url: string) => statusOf(`${url}/api/v2/version`);
const active = (url: string, token?: string) => statusOf(`${url}/api/v2/pushes/active`, token);

const asJson = { 'content-type': 'application/json' };
const post = (url: string, push: object) =>
  fetch(`${url}/api/v2/pushes`, { method: 'POST', headers: asJson, body: JSON.stringify({ push }) });
const posted = (body: string) =>
  `POST /api/v2/pushes HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

async function keptPushes(): Promise<number> {
  const database = await sqliteIn(data);
  const pushes = await database.sql`SELECT id FROM pushes`;
  await database.close();
  return pushes.length;
}

describe('starting', () => {
  test('the first start makes admin, on a disk only for its owner', async () => {
    const first = await started({ data });
    expect(first.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(await active(first.url, first.firstToken)).toBe(200);
    const mode = async (name: string) => (await stat(join(folder, name))).mode & 0o777;
    const modes = ['data', 'data/pwpush.db', 'data/pwpush.db-wal', 'data/instance.key'].map(mode);
    expect(await Promise.all(modes)).toEqual([0o700, 0o600, 0o600, 0o600]);
    await first.close();
    const second = await started({ data });
    expect([second.firstToken, await active(second.url, first.firstToken)]).toEqual([undefined, 200]);
    expect([...first.warnings, ...second.warnings]).toEqual([]);
  });

  test('no token is made where the journal would keep it, unless one is asked for', async () => {
    const { dev, ino } = fstatSync(2);
    const under = async (stream: string) => {
      const supervision = { env: { JOURNAL_STREAM: stream }, pid: process.pid };
      const service = await started({ data }, { supervision });
      await service.close();
      return service;
    };
    const first = await under(`${dev}:${ino}`);
    expect(first.firstToken).toBeUndefined();
    expect(first.warnings).toEqual([expect.stringContaining('pwpush serve token add')]);
    // Of a unit that started whoever writes somewhere else now.
    expect((await under('1:1')).firstToken).toMatch(/^pwp_/);
    expect((await under(`${dev}:${ino}`)).warnings).toEqual([]);
  });

  test('a port in use is named, and uses up no first token', async () => {
    const { port, close } = await listen(createServer());
    expect((await failure({ data, port })).message).toContain(`127.0.0.1 port ${port} `);
    await close();
    expect((await started({ data, port })).firstToken).toMatch(/^pwp_/);
  });

  test('a port of metrics in use leaves that of the service free', async () => {
    const { port: metricsPort, close } = await listen(createServer());
    const free = await listen(createServer());
    await free.close();
    expect((await failure({ data, port: free.port, metricsPort })).message).toContain(`port ${metricsPort} `);
    await close();
    expect(await version((await started({ data, port: free.port, metricsPort })).url)).toBe(200);
  });

  // Others: test/cases/serve-refused.txt.
  test('invalid settings are another error than a fault of the machine', async () => {
    const file = join(folder, 'file');
    await writeFile(file, 'not a database');
    for (const tlsKey of ['/nonexistent', file])
      expect(await failure({ tlsCert: file, tlsKey })).toMatchObject({ code: 'failed' });
    for (const settings of [{ maxViews: 0 }, { maxBuffer: 1024 ** 2 }, { maxConnections: 15 }])
      expect(await failure(settings)).toMatchObject({ code: 'usage' });
  });

  const exposed = 'listening on 0.0.0.0 without TLS: secrets and tokens can be read in transit';
  const anybody = 'anybody in the network can create pushes; --no-anonymous requires a token';
  test.each([
    [{ host: '0.0.0.0' }, [exposed, anybody]],
    [{ host: '0.0.0.0', anonymous: false }, [exposed]],
    [{ host: '0.0.0.0', trustProxy: true }, []],
    // Asked by IPv4: a container may have no other.
    [{ host: '::', trustProxy: true }, []],
    [{ host: '::ffff:127.0.0.1' }, []],
    [{ publicUrl: 'https://push.example.com/' }, []],
  ])('%j warns %j', async (settings, expected) => {
    const { url, localUrl, warnings } = await started(settings);
    expect([await version(localUrl), warnings]).toEqual([200, expected]);
    if ('publicUrl' in settings) expect(url).toBe('https://push.example.com');
  });

  test.each([
    [undefined, 5],
    [true, 620],
    [['127.0.0.0/8'], 620],
  ])('with the proxies %j an idle connection stays for %i seconds', async (trustProxy, seconds) => {
    const { localUrl, warnings } = await started({ trustProxy });
    const { headers } = await fetch(`${localUrl}/up`, { headers: { 'x-forwarded-for': '::1' } });
    expect(headers.get('keep-alive')).toBe(`timeout=${seconds}`);
    const warning = 'X-Forwarded-For came from 127.0.0.1, which is not trusted: see --trust-proxy';
    expect(warnings).toEqual(trustProxy ? [] : [warning]);
  });

  test('on all addresses it names one that others reach, or that of this machine', async () => {
    const host = '0.0.0.0';
    const { url, localUrl, port } = await started({ host });
    expect(url).toBe((await outwardUrl(localUrl, host)) ?? localUrl);
    expect(new URL(url).port).toBe(`${port}`);
    expect(isLoopback(new URL(localUrl).hostname)).toBe(true);
    expect([await version(url), await version(localUrl)]).toEqual([200, 200]);
  });
});

const [UP, HOST, CHUNKED] = ['GET /up HTTP/1.1', 'Host: localhost', 'Transfer-Encoding: chunked'];
const PUSH = ['POST /api/v2/pushes HTTP/1.1', HOST, 'Content-Type: application/json'];

test.each<[number, string, ...string[]]>([
  [400, '- -', 'hello'],
  [400, '- -', 'PRI * HTTP/2.0'],
  [400, '- -', '\x16\x03\x01\x02\x00\x01'],
  [400, '- -', 'GET /up http/1.1', HOST],
  [400, '- -', 'GET /p/\0 HTTP/1.1', HOST],
  [400, '- -', 'GET pw.test:80 HTTP/1.1', HOST],
  [400, '- -', UP, HOST, ' folded: 1'],
  [400, '- -', UP, HOST, 'no colon'],
  [400, '- -', UP, HOST, ': no name'],
  [400, 'GET -', UP],
  [400, 'GET -', UP, 'Host:'],
  [400, 'GET -', UP, 'Host: a b'],
  [400, 'GET -', UP, 'Host: u:p@evil'],
  [400, 'GET -', UP, 'Host: evil/path?x#y'],
  [400, 'GET -', 'GET http://a:b:c/ HTTP/1.1', HOST],
  [400, 'OPTIONS -', 'OPTIONS * HTTP/1.1', HOST],
  [400, '- -', ...PUSH, 'Content-Length: 2, 2'],
  [400, '- -', ...PUSH, 'Content-Length: 2', 'Content-Length: 0'],
  [400, '- -', ...PUSH, 'Content-Length: 2', CHUNKED],
  [417, 'GET -', UP, HOST, 'Expect: x'],
  [431, '- -', UP, HOST, `X: ${'x'.repeat(20_000)}`],
  [431, '- -', `GET /${'x'.repeat(20_000)} HTTP/1.1`, HOST],
])('what the application never sees is answered %i, logged: %s', async (status, logged, ...lines) => {
  const sent = [...lines, '', ''].join('\r\n');
  const service = await started();
  const { socket, ended } = speak(service.port, sent);
  socket.end();
  const [head = '', body = ''] = (await ended).split('\r\n\r\n');
  expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(head).toMatch(/^content-type: application\/json; charset=utf-8\r?$/im);
  expect(head).toMatch(/^cache-control: no-store, no-transform\r?$/im);
  expect(JSON.parse(body)).toEqual({ error: expect.any(String) });
  const line = expect.stringMatching(`Z ${logged} ${status} 0ms ${body.length}B$`);
  expect(requestsIn(service)).toEqual([line]);
});

const json = '{"push":{"payload":"x"}}';
const inChunks = (trailer = '') => `18\r\n${json}\r\n0\r\n${trailer}\r\n`;
test.each([
  ['as long as it says', 'Content-Length: 24', json, 201],
  ['that is longer', 'Content-Length: 23', json, 400],
  ['that is shorter', 'Content-Length: 25', json, 400],
  ['of no length', 'X: 1', json, 400],
  ['in chunks', CHUNKED, inChunks(), 201],
  ['with a trailer that changes its length', CHUNKED, inChunks('Content-Length: 5\r\n'), 400],
  ['with a long trailer', CHUNKED, inChunks(`X: ${'x'.repeat(20_000)}\r\n`), 431],
  ['with a chunk of any size', CHUNKED, `${'f'.repeat(17)}\r\nx`, 400],
  ['with a long extension of a chunk', CHUNKED, `5;${'x'.repeat(20_000)}\r\nhello\r\n0\r\n\r\n`, 413],
])('a body %s is answered once, and is no failure of ours', async (_, framing, body, status) => {
  const service = await started();
  const { socket, ended } = speak(service.port, [...PUSH, framing, '', body].join('\r\n'));
  socket.end();
  expect((await ended).match(/^HTTP\/1\.1 \d+/gm)).toEqual([`HTTP/1.1 ${status}`]);
  expect(service.lines.join('\n')).not.toContain(' error ');
});

const label = (length: number) => 'x'.repeat(length);
const host = (length: number) => `${`${label(62)}.`.repeat(4)}${label(length - 252)}`;
test.each<[string, (length: number) => string, number]>([
  ['a host', host, 253],
  ['a label', label, 63],
])('%s that a request names is foreign, and not valid if it is too long', async (_, name, most) => {
  const { port } = await started();
  const statusOf = async (sent: string) => (await speak(port, `${sent}Connection: close\r\n\r\n`).ended).split(' ')[1];
  for (const [length, status] of [
    [most, '421'],
    [most + 1, '400'],
  ] as const) {
    const named = name(length);
    expect(await statusOf(`GET /up HTTP/1.1\r\nHost: ${named}:80\r\n`)).toBe(status);
    expect(await statusOf(`GET http://${named}/up HTTP/1.1\r\nHost: localhost\r\n`)).toBe(status);
  }
});

describe('stopping', () => {
  test('once or twice finishes what runs, ends what idles, takes nothing new', async () => {
    const running = await started({ data });
    const agent = new Agent({ keepAlive: true });
    const [kept] = await once(httpRequest(`${running.url}/up`, { agent }).end(), 'response');
    await text(kept);
    const silent = speak(running.port, '');
    const half = speak(running.port, 'GET /up HTTP/1.1\r\nHost:');
    await once(half.socket, 'connect');

    const body = '{"push":{"payload":"kept"}}';
    const headers = { ...asJson, 'content-length': body.length, expect: '100-continue' };
    const slow = httpRequest(`${running.url}/api/v2/pushes`, { method: 'POST', headers });
    const answer = once(slow, 'response');
    slow.flushHeaders();
    // The request is being served from here on, and its body is not there yet.
    await once(slow, 'continue');

    const closed = Promise.all([running.close(), running.close()]);
    expect([await silent.ended, await half.ended]).toEqual(['', '']);
    await expect(fetch(`${running.url}/up`)).rejects.toThrow();
    slow.end(body);
    const [response] = await answer;
    expect([response.statusCode, response.headers.connection]).toEqual([201, 'close']);
    const { url_token } = JSON.parse(await text(response));
    await closed;
    await running.close();
    const said = running.lines.flatMap((line) => line.match(/ (?:start|stop\w+)\b/g) ?? []);
    expect(said).toEqual([' start', ' stopping', ' stopped']);
    agent.destroy();

    const again = await started({ data });
    const seen = await (await fetch(`${again.url}/api/v2/pushes/${url_token}`)).json();
    expect(seen).toMatchObject({ payload: 'kept' });
  });

  const secret = { payload: 'x', passphrase: 'sesame' };
  const at = { interval: 1, message: 'the passphrases that are checked' };

  test('does not wait for those who keep it busy, and keeps nothing of those it cut off', async () => {
    const running = await started({ data }, { grace: 300 });
    const statuses: number[] = [];
    const posts = Array.from({ length: 100 }, async () => {
      const answer = await post(running.url, secret);
      statuses.push(answer.status);
      if (answer.status === 503) expect(answer.headers.get('retry-after')).toBe('5');
      await answer.text();
    });
    const all = Promise.allSettled(posts);
    await expect.poll(() => requestsIn(running).length, { message: 'most requests are answered' }).toBeGreaterThan(60);
    await running.close();
    await all;
    // Whatever still ran has its turn before anything is counted.
    await expect.poll(passphraseChecks, at).toEqual({ running: 0, waiting: 0 });
    const created = statuses.filter((status) => status === 201).length;
    expect(statuses.filter((status) => status === 503).length).toBeGreaterThan(50);
    // Two are hashed at once, and 32 wait.
    expect(created).toBeLessThan(34);
    expect(await keptPushes()).toBe(created);
  });

  test('a push whose client has left is not made, and not waited for', async () => {
    const service = await started({ data });
    const sent = posted(JSON.stringify({ push: secret }));
    const clients = Array.from({ length: 6 }, () => speak(service.port, sent));
    await Promise.all(clients.map(({ socket }) => once(socket, 'connect')));
    // Two are under way, the others in line.
    await expect.poll(passphraseChecks, at).toEqual({ running: 2, waiting: 4 });
    for (const { socket } of clients) socket.destroy();
    await expect.poll(() => requestsIn(service).length, { message: 'each client is told of in the log' }).toBe(6);
    const statuses = requestsIn(service).map((line) => line.split(' ')[3]);
    expect(statuses).toEqual(Array(6).fill('499'));
    await service.close();
    expect(await keptPushes()).toBe(0);
  });
});
