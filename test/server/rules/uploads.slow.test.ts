import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cp, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Timeouts } from '../../../src/server/http/hardening/timeouts';
import { type Service, startService } from '../../../src/server/service';
import type { Database } from '../../../src/server/store/sql';
import { openSqlite } from '../../../src/server/store/sqlite';
import { type Spoken, speak } from '../../helpers/listen';
import { makePerson, start as startProgram } from '../../helpers/program';
import { rowsOf } from '../../helpers/rows';
import {
  defaults,
  FORM_TYPE,
  type FormPart,
  filePart,
  fileRows,
  formBytes,
} from '../../helpers/service';

const MIB = 1024 * 1024;

let data: string;
let service: Service;
let beside: Database;
let token: string;
let lines: string[];

/** A rate at which answers are read in any case. */
const read = { bytes: 1, milliseconds: 60_000 };

async function start(settings = {}, patience?: Timeouts): Promise<void> {
  lines = [];
  const io = {
    log: (line: string) => void lines.push(line),
    warn: () => {},
    now: () => new Date(),
    version: '0.1.0',
  };
  service = await startService({ ...defaults, ephemeral: false, data, ...settings }, io, patience);
  token = service.firstToken ?? token;
  beside ??= await openSqlite(join(data, 'pwpush.db'), (load) => load());
}

beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'pwpush-'));
});

afterEach(async () => {
  await beside?.close();
  beside = undefined as unknown as Database;
  await service?.close();
  await rm(data, { recursive: true });
});

const rows = () => fileRows(beside);

/** Asks until it is so; a test that waits for ever fails by its own time limit. */
async function until(what: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await what())) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** A connection on which a POST with these headers and this beginning of a body was sent. */
function open(
  headers: Record<string, string | number>,
  body: string | Uint8Array = '',
  url = service.url,
): Spoken {
  const head = Object.entries({ host: 'localhost', 'content-type': FORM_TYPE, ...headers })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
  return speak(Number(new URL(url).port), `POST /api/v2/pushes HTTP/1.1\r\n${head}\r\n`, body);
}

const authorization = () => `Bearer ${token}`;
const form = (...parts: FormPart[]) => formBytes(parts);
const large = (bytes = 8 * MIB) => form(filePart('a', randomBytes(bytes)));

async function send(body: Uint8Array, headers = {}) {
  const response = await fetch(`${service.url}/api/v2/pushes`, {
    method: 'POST',
    headers: { 'content-type': FORM_TYPE, authorization: authorization(), ...headers },
    body,
  });
  return { status: response.status, json: (await response.json()) as Record<string, never> };
}

test('goes up and down over a socket to the byte, many at once', async () => {
  await start();
  const bodies = [10 * MIB, 64 * 1024, 5, 0, 3_000_001].map((size) => randomBytes(size));
  await Promise.all(
    bodies.map(async (bytes) => {
      const { json } = await send(form(filePart('a', bytes)));
      const pushed = await fetch(`${service.url}/api/v2/pushes/${json.url_token}`);
      const { files } = (await pushed.json()) as { files: { url: string }[] };
      const file = await fetch(files[0]?.url ?? '');
      expect(bytes.equals(Buffer.from(await file.arrayBuffer()))).toBe(true);
    }),
  );
  expect(lines.filter((line) => /GET \/files\/:link 200 \d+ms \d+B$/.test(line))).toHaveLength(5);
});

describe('an upload that is cut off leaves nothing', () => {
  test.each([
    ['in a file', (body: Buffer) => body.subarray(0, 6 * MIB)],
    ['in its last boundary', (body: Buffer) => body.subarray(0, -5)],
  ])('%s', async (_, cut) => {
    await start();
    const body = large();
    const { socket } = open(
      { authorization: authorization(), 'content-length': body.length },
      cut(body),
    );
    await until(async () => (await rows())[2] !== 0);
    expect((await rows())[1]).toBe(0);
    socket.destroy();
    await until(async () => `${await rows()}` === '0,0,0');
    expect(await beside.sql`SELECT id FROM pushes`).toEqual([]);
  });

  test('when it ends short of its last boundary, with an answer', async () => {
    await start();
    const body = large().subarray(0, -10);
    expect((await send(body)).status).toBe(400);
    await until(async () => `${await rows()}` === '0,0,0');
  });

  test('when nothing moves any more', async () => {
    const rest = { bytes: MIB, milliseconds: 1000 };
    await start({}, { head: 60_000, idle: 200, body: 60_000, read, rest });
    const body = large();
    const { ended } = open(
      { authorization: authorization(), 'content-length': body.length },
      body.subarray(0, 6 * MIB),
    );
    expect(await ended).toBe('');
    await until(async () => `${await rows()}` === '0,0,0');
  });

  test('when the service stops', async () => {
    await start();
    const body = large();
    const { socket } = open(
      { authorization: authorization(), 'content-length': body.length },
      body.subarray(0, 6 * MIB),
    );
    await until(async () => (await rows())[2] !== 0);
    const closed = service.close();
    socket.destroy();
    await closed;
    // What it had no time for any more is done at the next start.
    await start();
    await until(async () => `${await rows()}` === '0,0,0');
  });

  test('when the service is killed, once it is there again', async () => {
    // Nothing of this process opens those data: libsql lets go of a database when its statements are collected, and
    // with it of locks that the services' processes count on.
    const world = makePerson();
    const [before, after] = [join(world.folder, 'before'), join(world.folder, 'after')];
    const first = await serveIn(world.env);
    token = first.token;
    const { socket } = open(
      { authorization: authorization(), 'content-length': 99 * MIB },
      large().subarray(0, 7 * MIB),
      first.url,
    );
    await until(async () => (await stat(join(data, 'pwpush.db'))).size > 4 * MIB);
    first.running.child.kill('SIGKILL');
    await first.running.ended;
    socket.destroy();
    await cp(data, before, { recursive: true });
    beside = await openSqlite(join(before, 'pwpush.db'), (load) => load());
    expect((await rows())[2]).toBeGreaterThan(0);
    await beside.close();

    const second = await serveIn(world.env);
    const left = () => rowsOf(join(data, 'pwpush.db'), 'SELECT id FROM uploads');
    await until(async () => (await left())[0]?.length === 0);
    second.running.child.kill('SIGTERM');
    expect((await second.running.ended).code).toBe(0);
    await cp(data, after, { recursive: true });
    beside = await openSqlite(join(after, 'pwpush.db'), (load) => load());
    expect(await rows()).toEqual([0, 0, 0]);
  });
});

/** The built service on the data of the test, in a process of its own. */
async function serveIn(env: Record<string, string>) {
  const running = startProgram(['serve', '--port', '0', '--data', data, '--json'], { env });
  const [line] = (await once(running.child.stdout as NodeJS.ReadableStream, 'data')) as [string];
  return { running, ...(JSON.parse(line) as { url: string; token: string }) };
}

describe('a limit is told while the client is still sending', () => {
  test('and the connection goes on when it has sent the rest', async () => {
    await start({ maxFileSize: MIB });
    const body = large(5 * MIB);
    const { socket, text, ended } = open(
      { authorization: authorization(), 'content-length': body.length },
      body.subarray(0, 3 * MIB),
    );
    await until(() => text().includes('larger than 1.0 MiB'));
    expect(text()).toMatch(/^HTTP\/1\.1 413 /);
    await until(async () => `${await rows()}` === '0,0,0');
    socket.write(body.subarray(3 * MIB));
    socket.write('GET /up HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n');
    expect((await ended).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200']);
  });

  test.each([
    ['for so many bytes only', { bytes: 2 * MIB, milliseconds: 60_000 }],
    ['for so long only', { bytes: 1000 * MIB, milliseconds: 300 }],
  ])('%s', async (_, rest) => {
    await start({ maxFileSize: MIB }, { head: 60_000, idle: 30_000, body: 60_000, read, rest });
    const { socket, ended } = open({
      authorization: authorization(),
      'content-length': 10_000 * MIB,
    });
    // The length alone is too much; the client sends all the same.
    const flood = async () => {
      const block = Buffer.alloc(MIB);
      while (!socket.destroyed)
        if (!socket.write(block)) await Promise.race([once(socket, 'drain'), ended]);
    };
    await Promise.all([flood().catch(() => {}), ended]);
    expect(await ended).toMatch(/^HTTP\/1\.1 413 /);
  });

  test('with too many files', async () => {
    await start();
    const body = form(...Array.from({ length: 11 }, (_, i) => filePart(`${i}`, 'x')));
    const { text, socket } = open(
      { authorization: authorization(), 'content-length': body.length + 100 },
      body.subarray(0, -10),
    );
    await until(() => text().includes('Too many files (maximum is 10).'));
    expect(text()).toMatch(/^HTTP\/1\.1 422 /);
    socket.destroy();
  });

  test('and an endless body is endless no longer', async () => {
    await start({ maxFileSize: MIB });
    const { socket, text } = open(
      { authorization: authorization(), 'transfer-encoding': 'chunked' },
      `1000\r\n${form(filePart('a', Buffer.alloc(8192)))
        .toString('latin1')
        .slice(0, 4096)}\r\n`,
    );
    const block = Buffer.concat([
      Buffer.from('10000\r\n'),
      Buffer.alloc(65_536),
      Buffer.from('\r\n'),
    ]);
    for (let i = 0; i < 40; i += 1) socket.write(block);
    await until(() => text().includes('\r\n\r\n'));
    expect(text()).toMatch(/^HTTP\/1\.1 413 /);
    socket.destroy();
    await until(async () => `${await rows()}` === '0,0,0');
  });
});

describe('whoever waits to be asked for the body', () => {
  const expectation = { expect: '100-continue' };

  test.each([
    ['without a token', {}, 401],
    ['with a wrong one', { authorization: 'Bearer pwp_x' }, 401],
    ['with a length that cannot be right', { 'content-length': 100_000 * MIB }, 413],
  ])('%s is answered at once, and the connection ends', async (_, headers, status) => {
    await start();
    const sent = { 'content-length': MIB, ...expectation };
    const as = status === 413 ? { authorization: authorization() } : {};
    const { ended } = open({ ...sent, ...as, ...headers });
    const text = await ended;
    expect(text.slice(0, 12)).toBe(`HTTP/1.1 ${status}`);
    expect(text).toMatch(/\r\nconnection: close\r\n/i);
  });

  test('is asked for it when it may come', async () => {
    await start();
    const body = form(filePart('a', 'A'));
    const { socket, text } = open({
      authorization: authorization(),
      'content-length': body.length,
      ...expectation,
    });
    await until(() => text() !== '');
    expect(text()).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    socket.write(body);
    await until(() => text().includes('url_token'));
    expect(text()).toContain('HTTP/1.1 201 ');
    socket.destroy();
  });
});

test('others can write while an upload stands still', async () => {
  await start();
  const body = large();
  const { socket } = open(
    { authorization: authorization(), 'content-length': body.length },
    body.subarray(0, 6 * MIB),
  );
  await until(async () => (await rows())[2] !== 0);
  expect((await send(form(filePart('b', 'B')))).status).toBe(201);
  socket.destroy();
  await until(async () => (await rows())[0] === 1);
});

test('a body that is no form has its time', async () => {
  const rest = { bytes: MIB, milliseconds: 1000 };
  await start({}, { head: 60_000, idle: 60_000, body: 50, read, rest });
  const { ended } = open({ 'content-type': 'application/json', 'content-length': 100 }, '{');
  expect(await ended).toBe('');
});

test('a download that is left early is let go of', async () => {
  await start();
  const { json } = await send(form(filePart('a', randomBytes(20 * MIB))));
  const pushed = await fetch(`${service.url}/api/v2/pushes/${json.url_token}`);
  const { files } = (await pushed.json()) as { files: { url: string }[] };
  const response = await fetch(files[0]?.url ?? '');
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  await reader.read();
  await reader.cancel();
  // It would wait for running requests.
  await service.close();
  expect(lines.filter((line) => line.includes('error'))).toEqual([]);
});

test('a file that was tampered with breaks off, and cannot be taken for whole', async () => {
  await start();
  const { json } = await send(form(filePart('a', randomBytes(20 * 65_536))));
  await beside.sql`UPDATE chunks SET sealed = x'00' WHERE number = 15`;
  const pushed = await fetch(`${service.url}/api/v2/pushes/${json.url_token}`);
  const { files } = (await pushed.json()) as { files: { url: string }[] };
  const response = await fetch(files[0]?.url ?? '');
  expect(response.headers.get('content-length')).toBe(`${20 * 65_536}`);
  await expect(response.arrayBuffer()).rejects.toThrow();
  expect(lines.filter((line) => / error Error at /.test(line))).toHaveLength(1);
});
