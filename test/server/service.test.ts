import { once } from 'node:events';
import { fstatSync } from 'node:fs';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isLoopback } from '../../src/contract/address';
import { passphraseChecks } from '../../src/server/keys/primitives';
import { outwardAddress } from '../../src/server/ops/listen';
import { type Service, ServiceError, type ServiceIo, startService } from '../../src/server/service';
import { openSqlite } from '../../src/server/store/sqlite';
import { listen, speak } from '../helpers/listen';
import { defaults } from '../helpers/service';
import { cert, key } from './certificate';

let folder: string;
let service: Service | undefined;
let lines: string[];
let warnings: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pwpush-'));
  lines = [];
  warnings = [];
});

afterEach(async () => {
  await service?.close();
  service = undefined;
  await rm(folder, { recursive: true });
});

/** What is no request: that it starts, stops. */
const isEvent = (line: string) => / (?:start|stopping|stopped)\b/.test(line);

/** What a service that was cut off still logs goes to its own test's lines, not to the next one's. */
const io = () => {
  const [logged, warned] = [lines, warnings];
  return {
    log: (line: string) => void (isEvent(line) || logged.push(line)),
    warn: (line: string) => void warned.push(line),
    now: () => new Date(),
    version: '0.1.0',
  };
};

const WAIT = { interval: 1 };

const inMemory = { ...defaults, ephemeral: true };
const onDisk = () => ({ ...defaults, ephemeral: false, data: join(folder, 'data') });

async function start(
  settings: Parameters<typeof startService>[0],
  more: Partial<ServiceIo> = {},
): Promise<Service> {
  service = await startService(settings, { ...io(), ...more });
  return service;
}

/** Starts a service that cannot; what it says, and whether its settings are at fault. */
async function failure(
  settings: Partial<typeof inMemory> & Record<string, unknown>,
): Promise<{ message: string; input: boolean }> {
  const error = await start({ ...inMemory, ...settings }).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ServiceError);
  return error as ServiceError;
}

async function text(response: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of response.setEncoding('utf8')) body += chunk;
  return body;
}

const version = async (url: string) => (await fetch(`${url}/api/v2/version`)).status;

/** Writes, and waits until the system has taken it. */
const taken = (socket: Socket, bytes: string | Buffer) =>
  new Promise((resolve) => socket.write(bytes, resolve));

describe('starting', () => {
  test('the first start makes admin, on a disk only for its owner', async () => {
    const first = await start(onDisk());
    expect(first.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const authorization = `Bearer ${first.firstToken}`;
    const list = async (url: string) =>
      (await fetch(`${url}/api/v2/pushes/active`, { headers: { authorization } })).status;
    expect(await list(first.url)).toBe(200);
    const mode = async (name: string) => (await stat(join(folder, name))).mode & 0o777;
    const modes = ['data', 'data/pwpush.db', 'data/pwpush.db-wal', 'data/instance.key'].map(mode);
    expect(await Promise.all(modes)).toEqual([0o700, 0o600, 0o600, 0o600]);
    await first.close();
    const second = await start(onDisk());
    expect([second.firstToken, await list(second.url)]).toEqual([undefined, 200]);
    expect(warnings).toEqual([]);
  });

  test('no token is made where the journal would keep it, unless one is asked for', async () => {
    const { dev, ino } = fstatSync(2);
    const supervision = (stream: string) => ({
      supervision: { env: { JOURNAL_STREAM: stream }, pid: process.pid },
    });
    const first = await start(onDisk(), supervision(`${dev}:${ino}`));
    expect(first.firstToken).toBeUndefined();
    expect(warnings).toEqual([expect.stringContaining('pwpush serve token add')]);
    await first.close();
    // Of a unit that started whoever writes somewhere else now.
    expect((await start(onDisk(), supervision('1:1'))).firstToken).toMatch(/^pwp_/);
    await service?.close();
    await start(onDisk(), supervision(`${dev}:${ino}`));
    expect(warnings).toHaveLength(1);
  });

  test('a port in use is named, and uses up no first token', async () => {
    const { port, close } = await listen(createServer());
    const { message } = await failure({ ...onDisk(), port });
    expect(message).toContain(`127.0.0.1 port ${port} `);
    await close();
    expect((await start({ ...onDisk(), port })).firstToken).toMatch(/^pwp_/);
  });

  test('invalid settings are another error than a fault of the machine', async () => {
    const file = join(folder, 'file');
    await writeFile(file, 'not a database');
    const machine = [
      { host: '192.0.2.1' },
      { ephemeral: false, data: file },
      { tlsCert: file, tlsKey: '/nonexistent' },
      { tlsCert: file, tlsKey: file },
    ];
    for (const settings of machine) expect(await failure(settings)).toMatchObject({ input: false });
    const wrong = [
      { tlsCert: file },
      { publicUrl: 'push.example.com' },
      { maxDays: 5, defaultDays: 6 },
      { maxViews: 0 },
      { maxFileSize: 0 },
      { maxBuffer: 1024 ** 2 },
      { maxConnections: 15 },
      { maxFailures: 0 },
    ];
    for (const settings of wrong) expect(await failure(settings)).toMatchObject({ input: true });
  });

  test('limits of the instance hold', async () => {
    const { url } = await start({ ...inMemory, maxDays: 3, defaultViews: 2 });
    const post = async (push: object) => {
      const headers = { 'content-type': 'application/json' };
      const body = JSON.stringify({ push });
      return (await fetch(`${url}/api/v2/pushes`, { method: 'POST', headers, body })).json();
    };
    expect(await post({ payload: 'x' })).toMatchObject({
      expire_after_days: 3,
      expire_after_views: 2,
    });
    expect(await post({ payload: 'x', expire_after_days: 4 })).toEqual({
      expire_after_days: ['Expire after days must be an integer from 1 to 3.'],
    });
  });

  test.each([
    [
      { host: '0.0.0.0' },
      ['listening on 0.0.0.0 without TLS: secrets and tokens can be read in transit'],
    ],
    [{ host: '0.0.0.0', trustProxy: true }, []],
    [{ host: 'localhost' }, []],
    [{ host: '::ffff:127.0.0.1' }, []],
    [{ host: '0:0:0:0:0:0:0:1' }, []],
  ])('%j warns %j', async (settings, expected) => {
    const { url } = await start({ ...inMemory, ...settings });
    expect(await version(url)).toBe(200);
    expect(warnings).toEqual(expected);
  });

  test.each(['0.0.0.0', '::'] as const)(
    'on all addresses (%s) it names one that others reach, or that of this machine',
    async (host) => {
      const { url, localUrl } = await start({ ...inMemory, host });
      const outward = (await outwardAddress(host)) ?? new URL(localUrl).hostname;
      expect(new URL(url).host).toBe(`${outward}:${new URL(localUrl).port}`);
      expect(isLoopback(new URL(localUrl).hostname)).toBe(true);
      expect([await version(url), await version(localUrl)]).toEqual([200, 200]);
    },
  );

  test('the public address is what links begin with', async () => {
    const { url, localUrl } = await start({ ...inMemory, publicUrl: 'https://push.example.com/' });
    expect(url).toBe('https://push.example.com');
    expect(await version(localUrl)).toBe(200);
  });
});

test('with a certificate it speaks TLS, and links say so', async () => {
  const [tlsCert, tlsKey] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  await writeFile(tlsCert, cert);
  await writeFile(tlsKey, key);
  const { url, close } = await start({ ...inMemory, tlsCert, tlsKey });
  const agentless = { ca: cert, method: 'POST', headers: { 'content-type': 'application/json' } };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    httpsRequest(`${url}/api/v2/pushes`, agentless, resolve)
      .on('error', reject)
      .end('{"push":{"payload":"x"}}');
  });
  const { html_url } = JSON.parse(await text(response));
  expect(html_url.startsWith('https://127.0.0.1:')).toBe(true);
  await close();
});

test('the log says what was answered, not who asked for what', async () => {
  const { url } = await start(inMemory);
  await fetch(`${url}/api/v2/pushes/secrettoken?passphrase=sesame`, {
    headers: { authorization: 'Bearer pwp_x' },
  });
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^\S+Z GET \/api\/v2\/pushes\/:token 401 \d+ms 36B$/);
});

test('a body over the limit is answered, and the connection goes on or ends cleanly', async () => {
  const { url } = await start(inMemory);
  const response = await fetch(`${url}/api/v2/pushes`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: Buffer.alloc(9 * 1024 * 1024, 32),
  });
  expect([response.status, await response.json()]).toEqual([
    413,
    { error: 'The body is larger than 8.0 MiB.' },
  ]);
  expect(await version(url)).toBe(200);
});

describe('a body over the limit', () => {
  const big = (length: string) =>
    `POST /api/v2/pushes HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${length}\r\n\r\n`;

  test('is refused at once where its length is declared, and what is still sent is taken', async () => {
    const { url } = await start(inMemory);
    const { socket, ended } = speak(Number(new URL(url).port), big('Content-Length: 40000000'));
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk;
    });
    await expect.poll(() => answer).toMatch(/^HTTP\/1\.1 413 /);
    // A client that takes its time must not find the connection reset.
    for (let sent = 0; sent < 40; sent++) await taken(socket, Buffer.alloc(1_000_000, 32));
    socket.write('GET /up HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    expect(await ended).toMatch(/larger than 8.0 MiB[\s\S]*HTTP\/1\.1 200 OK/);
  });

  test('is read on where it is not, so that the answer arrives', async () => {
    const { url } = await start(inMemory);
    const { socket, ended } = speak(Number(new URL(url).port), big('Transfer-Encoding: chunked'));
    const chunk = `${(1_000_000).toString(16)}\r\n${' '.repeat(1_000_000)}\r\n`;
    for (let sent = 0; sent < 30; sent++) await taken(socket, chunk);
    socket.write('0\r\n\r\nGET /up HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    expect(await ended).toMatch(/larger than 8.0 MiB[\s\S]*HTTP\/1\.1 200 OK/);
  });
});

test('over HTTP/1.0 without a host, links name the address it listens on', async () => {
  const { url } = await start(inMemory);
  const body = '{"push":{"payload":"x","retrieval_step":false}}';
  const { ended } = speak(
    Number(new URL(url).port),
    `POST /api/v2/pushes HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  expect(await ended).toContain(`"html_url":"${url}/p/`);
});

test.each([
  [400, '- -', 'hello\r\n\r\n'],
  [400, 'GET -', 'GET / HTTP/1.1\r\nHost: a b\r\n\r\n'],
  [400, 'GET -', 'GET / HTTP/1.1\r\n\r\n'],
  [400, 'OPTIONS -', 'OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  [400, 'GET -', 'GET http://a:b:c/ HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  [417, 'GET -', 'GET / HTTP/1.1\r\nHost: localhost\r\nExpect: x\r\n\r\n'],
  [431, '- -', `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`],
  [
    400,
    '- -',
    'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
])(
  'what never reaches the application is answered %i and logged: %s',
  async (status, logged, sent) => {
    const { url } = await start(inMemory);
    const { socket, ended } = speak(Number(new URL(url).port), sent);
    socket.end();
    const [head = '', body = ''] = (await ended).split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(head).toMatch(/^content-type: application\/json; charset=utf-8\r?$/im);
    expect(head).toMatch(/^cache-control: no-store\r?$/im);
    expect(JSON.parse(body)).toEqual({ error: expect.any(String) });
    expect(lines).toEqual([expect.stringMatching(`Z ${logged} ${status} 0ms ${body.length}B$`)]);
  },
);

test('a client that merely leaves is no request', async () => {
  const { url } = await start(inMemory);
  const { socket } = speak(Number(new URL(url).port), '');
  await once(socket, 'connect');
  await taken(socket, 'GET /up HTTP/1.1\r\nHost:');
  // An answer to somebody else shows that the service has read what came before.
  await version(url);
  socket.resetAndDestroy();
  await version(url);
  expect(lines).toEqual([...Array(2)].map(() => expect.stringContaining('/version 200')));
});

describe('stopping', () => {
  test('finishes what runs, ends what idles, takes nothing new', async () => {
    const running = await start(onDisk());
    const { port } = new URL(running.url);
    const agent = new Agent({ keepAlive: true });
    const kept = await new Promise<IncomingMessage>((resolve) => {
      httpRequest(`${running.url}/up`, { agent }, resolve).end();
    });
    await text(kept);
    const silent = speak(Number(port), '');
    const half = speak(Number(port), 'GET /up HTTP/1.1\r\nHost:');
    await new Promise((resolve) => half.socket.once('connect', resolve));

    const body = '{"push":{"payload":"kept"}}';
    const slow = httpRequest(`${running.url}/api/v2/pushes`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'content-length': body.length,
        expect: '100-continue',
      },
    });
    const answer = new Promise<IncomingMessage>((resolve, reject) => {
      slow.on('response', resolve).on('error', reject);
    });
    slow.flushHeaders();
    // The request is being served from here on, and its body is not there yet.
    await new Promise((resolve) => slow.once('continue', resolve));

    const closed = running.close();
    expect([await silent.ended, await half.ended]).toEqual(['', '']);
    await expect(fetch(`${running.url}/up`)).rejects.toThrow();
    slow.end(body);
    const response = await answer;
    expect([response.statusCode, response.headers.connection]).toEqual([201, 'close']);
    const { url_token } = JSON.parse(await text(response));
    await closed;
    agent.destroy();

    const again = await start(onDisk());
    const seen = await (await fetch(`${again.url}/api/v2/pushes/${url_token}`)).json();
    expect(seen).toMatchObject({ payload: 'kept' });
  });

  test('does not wait for those who keep it busy, and keeps nothing of those it cut off', async () => {
    const running = await start(onDisk(), { grace: 300 });
    const body = '{"push":{"payload":"x","passphrase":"sesame"}}';
    const headers = { 'content-type': 'application/json' };
    const statuses: number[] = [];
    const posts = Array.from({ length: 100 }, async () => {
      const answer = await fetch(`${running.url}/api/v2/pushes`, { method: 'POST', headers, body });
      statuses.push(answer.status);
      if (answer.status === 503) expect(answer.headers.get('retry-after')).toBe('5');
      await answer.text();
    });
    const all = Promise.allSettled(posts);
    await expect.poll(() => lines.length).toBeGreaterThan(60);
    await running.close();
    await all;
    // Whatever still ran has its turn before anything is counted.
    await expect.poll(passphraseChecks, WAIT).toEqual({ running: 0, waiting: 0 });
    const created = statuses.filter((status) => status === 201).length;
    expect(statuses.filter((status) => status === 503).length).toBeGreaterThan(50);
    // Two are hashed at once, and 32 wait.
    expect(created).toBeLessThan(34);
    const database = await openSqlite(join(folder, 'data', 'pwpush.db'), (load) => load());
    expect(await database.sql`SELECT id FROM pushes`).toHaveLength(created);
    await database.close();
  });

  test('a push whose client has left is not made, and not waited for', async () => {
    const { url, close } = await start(onDisk());
    const body = '{"push":{"payload":"x","passphrase":"sesame"}}';
    const sent = `POST /api/v2/pushes HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const clients = Array.from({ length: 6 }, () => speak(Number(new URL(url).port), sent));
    await Promise.all(clients.map(({ socket }) => once(socket, 'connect')));
    // Two are under way, the others in line.
    await expect.poll(passphraseChecks, WAIT).toEqual({ running: 2, waiting: 4 });
    for (const { socket } of clients) socket.destroy();
    await expect.poll(() => lines.length).toBe(6);
    expect(lines.map((line) => line.split(' ')[3])).toEqual(Array(6).fill('499'));
    await close();
    const database = await openSqlite(join(folder, 'data', 'pwpush.db'), (load) => load());
    expect(await database.sql`SELECT id FROM pushes`).toEqual([]);
    await database.close();
  });

  test('twice ends it once', async () => {
    const logged: string[] = [];
    const running = await start(inMemory, { log: (line) => void logged.push(line) });
    await Promise.all([running.close(), running.close()]);
    await running.close();
    expect(logged.map((line) => line.split(' ')[1])).toEqual(['start', 'stopping', 'stopped']);
  });
});
