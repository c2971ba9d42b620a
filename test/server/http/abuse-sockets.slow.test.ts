import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { checkSettings, readingRateOf } from '../../../src/server/service-settings';
import { speak as speakTo } from '../../helpers/listen';
import { overNoted } from '../../helpers/over-database';
import { at, defaults, filePart, opened, type TestService } from '../../helpers/service';
import { type OnSockets, onSockets, started } from '../on-sockets';

const MIB = 1024 * 1024;

let service: TestService;
let sockets: OnSockets;

beforeEach(async () => {
  service = await opened();
});

/** A service with generous timeouts, except those under test. */
async function listening(
  timeouts: NonNullable<Parameters<typeof onSockets>[1]>['timeouts'] = {},
  more: Parameters<typeof onSockets>[1] = {},
) {
  sockets = await onSockets(service, { timeouts, ...more });
}

const speak = (...said: (string | Buffer)[]) => speakTo(sockets.port, ...said);
const statuses = (received: string) =>
  [...received.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => Number(status));

/** The head of a request; the first field is that of its host, unless it has another. */
const head = (start: string, ...fields: string[]) =>
  [`${start} HTTP/1.1`, ...(/^Host: /.test(fields[0] ?? '') ? [] : ['Host: x']), ...fields, '', ''].join('\r\n');

const CLOSE = 'Connection: close';
const JSON_TYPE = 'Content-Type: application/json';
const FORM = 'Content-Type: multipart/form-data; boundary=b';
const PUSHES = 'POST /api/v2/pushes';
const ofBytes = (count: number) => `Content-Length: ${count}`;

const asked = async (target: string, host = 'x') =>
  statuses(await speak(head(`GET ${target}`, `Host: ${host}`, CLOSE)).ended);

function flood(socket: Socket): void {
  const more = () => {
    if (!socket.destroyed) socket.write(Buffer.alloc(MIB, 'x'), (error) => error ?? more());
  };
  more();
}

function every(milliseconds: number, step: () => unknown): void {
  const steps = setInterval(step, milliseconds);
  onTestFinished(() => clearInterval(steps));
}

const accepting = async () => (await once(sockets.servers[0] as Server, 'connection'))[0] as Socket;

/** Asks for the payload; what does not fit into the queues of the system waits. */
const asking = (token: string, ...fields: string[]) => head(`GET /api/v2/pushes/${token}`, ...fields);

const bearer = () => `Authorization: Bearer ${service.adminToken}`;
const viewsLeft = async () => (await service.list('active'))[0].views_remaining;

describe('answers that wait for their reader', () => {
  /** 6 MiB as JSON, more than the system takes of a client that does not read. */
  const large = { payload: '\u0001'.repeat(MIB), expire_after_views: 100, retrieval_step: false };
  const answeredWith = (status: number) =>
    service.lines.filter((line) => line.includes(`GET /api/v2/pushes/:token ${status}`)).length;

  test('keep the next request of their connection waiting, and its view', async () => {
    await listening();
    const token = await service.createOwn(large);
    const { socket, ended } = speak();
    socket.pause();
    socket.write(asking(token).repeat(4) + asking(token, CLOSE));
    await expect.poll(() => answeredWith(200), { message: 'the first request is answered' }).toBe(1);
    for (let round = 0; round < 5; round++) expect(await asked('/up')).toEqual([200]);
    expect(await viewsLeft()).toBe(99);
    socket.resume();
    expect((await ended).match(/HTTP\/1\.1 200/g)).toHaveLength(5);
    expect(await viewsLeft()).toBe(95);
  });

  test('are cut off where more than sixteen requests were sent ahead', async () => {
    await listening();
    const ahead = async (count: number) =>
      statuses(await speak(head('GET /up').repeat(count) + head('GET /up', CLOSE)).ended);
    expect([await ahead(16), await ahead(17)]).toEqual([Array(17).fill(200), []]);
  });

  test.each([
    ['/api/v2/pushes/', '\u0001'],
    ['/p/', '"'],
  ])('take a bounded memory, and no view beyond: %s', async (path, character) => {
    service = await opened({ maxBuffer: 32 * MIB });
    await listening();
    const token = await service.createOwn({ ...large, payload: character.repeat(MIB) });
    const inTab = ['Sec-Fetch-Mode: navigate', 'Sec-Fetch-Dest: document'];
    const asked = (...fields: string[]) => head(`GET ${path}${token}`, ...inTab, ...fields);
    const readers = Array.from({ length: 20 }, () => speak());
    for (const { socket } of readers) socket.pause().write(asked());
    const answered = (status: number) =>
      service.lines.filter((line) => line.includes(`GET ${path}:token ${status}`)).length;
    await expect.poll(() => answered(200) + answered(503), { message: 'all readers are answered' }).toBe(20);
    expect([answered(200), await viewsLeft()]).toEqual([16, 84]);
    // A small secret is shown all the same.
    const small = await service.create({ payload: 'hunter2' });
    expect((await service.retrieve(small)).json.payload).toBe('hunter2');
    for (const { socket } of readers) socket.destroy();
    await Promise.all(readers.map(({ ended }) => ended));
    const last = () => speak(asked(CLOSE)).ended;
    await expect.poll(async () => statuses(await last()), { message: 'the memory is free again' }).toEqual([200]);
  });

  test('go on for as long as their client reads, however slowly the system tells', async () => {
    await listening({ read: { bytes: 1000, milliseconds: 1000 } });
    const token = await service.create(large);
    const { socket, ended } = speak();
    socket.pause().write(asking(token, CLOSE));
    const accepted = await accepting();
    await expect.poll(() => accepted.writableLength, { message: 'a part of the response waits' }).toBeGreaterThan(0);
    // As if the system had told of nothing for as long as a connection may be idle.
    accepted.emit('timeout');
    every(30, () => socket.resume().once('data', () => socket.pause()));
    const received = await ended;
    expect(received.length).toBeGreaterThan(6 * MIB);
  });

  test('are cut when it reads a little now and then', async () => {
    await listening({ idle: 60_000, read: { bytes: MIB, milliseconds: 300 } });
    const token = await service.create(large);
    const { socket } = speak();
    socket.pause().write(asking(token));
    every(20, () => socket.read(1000));
    await once(await accepting(), 'close');
    expect(socket.bytesRead).toBeGreaterThan(0);
    expect(socket.bytesRead).toBeLessThan(MIB);
    socket.destroy();
  });
});

test('an operator sets how fast answers must be read', () => {
  const rate = (minRate?: number) => readingRateOf(checkSettings({ ...defaults, minRate }));
  expect([rate().bytes, rate(1000).bytes, rate(0).bytes]).toEqual([100_000, 2000, 0]);
});

describe('connections', () => {
  const half = 'GET /up HTTP/1.1\r\nX-';

  /** So many connections that have said as much, by default half a head. */
  async function held(count: number, said = half): Promise<Socket[]> {
    const all = Array.from({ length: count }, () => speak(said).socket);
    for (const socket of all) await once(socket, 'connect');
    onTestFinished(() => all.forEach((socket) => void socket.destroy()));
    return all;
  }
  const destroyed = (all: Socket[]) => all.map((socket) => socket.destroyed);
  const limited = (most: number, clientOf = (_?: string): string | undefined => undefined) =>
    listening({}, { connections: { most, clientOf } });

  test('when there are too many, half a head gives way, the oldest first', async () => {
    await limited(16);
    const [oldest, ...others] = (await held(16)) as [Socket, ...Socket[]];
    expect(await asked('/up')).toEqual([200]);
    await expect.poll(() => oldest.destroyed, { message: 'the oldest gives way' }).toBe(true);
    expect([oldest.bytesRead, destroyed(others)]).toEqual([0, Array(15).fill(false)]);
  });

  test('bodies that are not there yet give way too, the slowest first', async () => {
    await limited(16);
    const all = await held(15, head(PUSHES, JSON_TYPE, ofBytes(50_000)));
    const [fast, slow, ...others] = all as [Socket, Socket, ...Socket[]];
    for (const socket of all) socket.write('x'.repeat(socket === slow ? 1 : 40_000));
    // All of it has arrived when a later request was answered.
    await asked('/up');
    await held(1);
    expect(await asked('/up')).toEqual([200]);
    await expect.poll(() => slow.destroyed, { message: 'the slowest gives way' }).toBe(true);
    expect(destroyed([fast, ...others])).toEqual(Array(14).fill(false));
  });

  test('count no more once they are closed', async () => {
    await limited(16);
    const holding = await held(8);
    for (let count = 0; count < 32; count++) expect(await asked('/up')).toEqual([200]);
    expect(destroyed(holding)).toEqual(Array(8).fill(false));
  });

  let networks = 0;
  test.each<[string, number, (address?: string) => string | undefined]>([
    ['one client', 6, (address) => address],
    ['a line of IPv6', 9, () => `2001:db8:1:${++networks}`],
  ])('of %s are a part of all', async (_, count, clientOf) => {
    await limited(64, clientOf);
    const all = Array.from({ length: count }, (_, at) => {
      const localAddress = `127.0.0.${at < 5 ? 66 : 77}`;
      return connect({ port: sockets.port, host: '127.0.0.1', localAddress });
    });
    for (const socket of all) socket.on('error', () => undefined).write(half);
    await once(all[0] as Socket, 'close');
    expect(destroyed(all.slice(1))).toEqual(Array(count - 1).fill(false));
    for (const socket of all) socket.destroy();
  });
});

test.each([
  ['JSON', 'keep-alive', JSON_TYPE, 9, 413],
  ['JSON', 'close', JSON_TYPE, 9, 413],
  ['files without a token', 'keep-alive', FORM, 73, 401],
])(
  'a client that reads after it has sent everything that it may gets an early answer: %s, %s',
  async (_, connection, type, mebibytes, status) => {
    // Ten files of that size, and 4 MiB for all else.
    const { port } = await started({ maxFileSize: 7 * MIB, publicUrl: 'http://x' });
    const said = head(PUSHES, type, ofBytes(mebibytes * MIB), `Connection: ${connection}`);
    const { socket, ended } = speakTo(port, said);
    socket.pause();
    const some = Buffer.alloc(MIB, 'x');
    for (let sent = 0; sent < mebibytes; sent += 1) await new Promise((resolve) => socket.write(some, resolve));
    socket.once('data', () => socket.end()).resume();
    expect(statuses(await ended)).toEqual([status]);
  },
);

test.each([
  ['/api/v2/version', 200],
  ['/api/v2/version?a=/../%61', 200],
  ['http://x/api/v2/version', 200],
  ['/p/a%20b', 302],
  ['/p/../api/v2/version', 400],
  ['/p/%2e%2e/api/v2/version', 400],
  ['/%61pi/v2/version', 400],
  ['http://x/%61pi/v2/version', 400],
  ['/api/v2/version#/p/', 400],
])('a request target that is not in its normal form, %s: %i', async (target, status) => {
  await listening();
  expect(await asked(target)).toEqual([status]);
});

const codings = ['chunked', 'identity', 'gzip, chunked'];
test.each(codings)('Transfer-Encoding in HTTP/1.0 is refused, and what follows: %s', async (coding) => {
  await listening();
  const token = await service.createOwn({ payload: 'x', expire_after_views: 1 });
  const old = (start: string, ...fields: string[]) =>
    head(start, 'Connection: keep-alive', ...fields).replace('HTTP/1.1', 'HTTP/1.0');
  const { ended } = speak(old('POST /up', `Transfer-Encoding: ${coding}`), '0\r\n\r\n', old(`GET ${at(token)}`));
  expect(await ended).toMatch(/^HTTP\/1\.1 400 [\s\S]*connection: close\r\n\r\n\{"error":"[^"]*"\}$/);
  expect(await viewsLeft()).toBe(1);
});

describe('a host that a request names', () => {
  const onLoopback = () => listening({}, { ownHost: 'here.example' });

  test.each([
    ['127.0.0.1:5100', 200],
    ['localhost', 200],
    ['[::1]:5100', 200],
    ['192.0.2.1', 200],
    ['here.example', 200],
    ['evil.example:5100', 421],
    ['localhost.evil.example', 421],
    // Both could be meant.
    ['here.example\r\nHost: localhost', 400],
  ])('%j on loopback: %i', async (host, status) => {
    await onLoopback();
    expect(await asked('/up', host)).toEqual([status]);
  });

  const invalid = ['xn--a', '999.999.1.1', '99999999999', '[::1', 'a:99999'];
  test.each(invalid)('%s is not valid: 400, and no error of ours', async (host) => {
    await onLoopback();
    const here = await asked('/up', host);
    await listening();
    expect([...here, ...(await asked('/up', host))]).toEqual([400, 400]);
    expect(service.warnings).toEqual([]);
    expect(service.lines).toEqual(Array(2).fill(expect.stringContaining(' GET - 400 ')));
  });
});

describe('a client that takes its time', () => {
  test.each([
    ['nothing at all', []],
    ['half a line', ['GET /up']],
    ['headers without an end', ['GET /up HTTP/1.1\r\nHost: x\r\n']],
  ])('has so long for the head of a request: %s', async (_, said) => {
    await listening({ head: 200 });
    const { socket, ended } = speak(...said);
    // A byte now and then must not help.
    every(20, () => said.length > 0 && socket.writable && socket.write('x'));
    expect(statuses(await ended)).toEqual([408]);
    expect(service.lines).toEqual([expect.stringMatching(/Z - - 408 0ms \d+B$/)]);
  });

  test.each([
    ['JSON', PUSHES, JSON_TYPE],
    ['a form from nobody', PUSHES, FORM],
    ['a form without a token', PUSHES, FORM, 'Authorization: Basic eDp5'],
    ['a form with a token that nobody looks at', 'POST /', FORM, 'X-User-Token: x', 'Authorization: Bearer x'],
    ['a body that nobody reads', 'GET /api/v2/pushes'],
  ])('has so long for a body, however it drips: %s', async (_, start, ...fields) => {
    await listening({ body: 200, read: { bytes: MIB, milliseconds: 200 } });
    const { socket, ended } = speak(head(start, ofBytes(5000), ...fields));
    every(20, () => socket.writable && socket.write('x'));
    await ended;
    expect(service.lines.length).toBeLessThan(2);
    await service.create({ payload: 'still there' });
  });

  test.each([
    [59_999, [100, 201]],
    [60_000, [100]],
  ])('has a minute for a body: what comes after %i ms gets %j', async (passed, expected) => {
    const { port } = await started();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const body = '{"push":{"payload":"x"}}';
    const fields = ['Host: localhost', JSON_TYPE, ofBytes(body.length), 'Expect: 100-continue', CLOSE];
    const { socket, ended } = speakTo(port, head(PUSHES, ...fields));
    // A poll would move the clock.
    await once(socket, 'data');
    vi.advanceTimersByTime(passed);
    socket.write(body);
    expect(statuses(await ended)).toEqual(expected);
  });

  test.each([
    ['a push', 'push[payload]', 201],
    ['an answer, from anybody', 'request[response]', 200],
  ])('may take longer with a form of files, as long as it moves: %s', async (_, field, status) => {
    await listening({ body: 100 });
    const name = `--b\r\nContent-Disposition: form-data; name="${field}"\r\n\r\n`;
    const text = `${name}${'x'.repeat(60)}\r\n--b--\r\n`;
    const start = status === 201 ? PUSHES : `POST /r/${await service.createRequest()}`;
    const token = status === 201 ? [bearer()] : [];
    const { socket, ended } = speak(head(start, FORM, ofBytes(text.length), CLOSE, ...token));
    const letters = [...text];
    every(5, () => letters.length > 0 && socket.write(letters.shift() as string));
    expect(statuses(await ended)).toEqual([status]);
  });
});

test('whoever was accepted sends as fast as answers are to be read, or is cut', async () => {
  await listening({ body: 100, read: { bytes: MIB, milliseconds: 200 } });
  const { socket, ended } = speak(head(PUSHES, FORM, ofBytes(5000), bearer()));
  every(20, () => socket.writable && socket.write('x'));
  await ended;
  expect(socket.bytesWritten).toBeLessThan(1000);
});

test('what goes on and on after its answer is read no further than so far', async () => {
  await listening({ rest: 1 });
  const { socket } = speak(head(PUSHES, JSON_TYPE, ofBytes(64 * MIB)));
  const accepted = await accepting();
  flood(socket);
  await once(accepted, 'close');
  expect(accepted.bytesRead).toBeLessThan(2 * MIB);
});

describe('what looks whether the rest of a body arrives ends', () => {
  /** Answers a body before it arrives, on a clock that stands still. */
  async function early() {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    await listening();
    const before = vi.getTimerCount();
    const spoken = speak(head(PUSHES, FORM, ofBytes(5000), 'Authorization: Bearer unknown'));
    await expect.poll(() => vi.getTimerCount(), { message: 'the body is looked at' }).toBe(before + 1);
    return { ...spoken, left: () => vi.getTimerCount() - before };
  }

  test('with the body', async () => {
    const { socket, text, left } = await early();
    socket.write(Buffer.alloc(5000));
    socket.write(head('GET /up'));
    await expect.poll(text, { message: 'both responses' }).toMatch(/ 401 [\s\S]* 200 OK/);
    // The end of an idle connection would stop it, too.
    expect([left(), socket.closed]).toEqual([0, false]);
    socket.destroy();
  });

  test('with the connection', async () => {
    const { socket, left } = await early();
    socket.destroy();
    await expect.poll(left, { message: 'the end of the timer' }).toBe(0);
  });
});

test('a download that nobody reads is not read from the database, and ends', async () => {
  const over = await overNoted();
  const { statements } = over;
  await listening({ read: { bytes: MIB, milliseconds: 500 } }, { app: over.app });
  const size = 40 * MIB;
  const pushed = await over.createWithFiles(filePart('a', Buffer.alloc(size)));
  const { json } = await over.retrieve(pushed);
  const { pathname } = new URL(json.files[0].url);
  statements.length = 0;
  const { socket } = speak();
  socket.pause();
  const accepted = await accepting();
  socket.write(head(`GET ${pathname}`));
  await once(accepted, 'close');
  const read = statements.filter((statement) => /FROM chunks/.test(statement)).length;
  expect(read).toBeGreaterThan(0);
  expect(read * 65_536).toBeLessThan(size / 2);
  socket.destroy();
});
