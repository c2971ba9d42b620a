import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cp, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { Timeouts } from '../../../src/server/http/hardening/timeouts';
import type { Database } from '../../../src/server/store/sql';
import { type Spoken, speak } from '../../helpers/listen';
import { folders } from '../../helpers/memory';
import { makePerson, serveBuilt } from '../../helpers/program';
import { rowsOf } from '../../helpers/rows';
import { FORM_TYPE, filePart, fileRows, formBytes } from '../../helpers/service';
import { sqliteIn } from '../../helpers/stores';
import { type Started, started } from '../on-sockets';

const MIB = 1024 * 1024;

const newFolder = folders();
let data: string;
let service: Pick<Started, 'url' | 'port'> & Partial<Started>;
let beside: Database;
let authorization: string;

beforeEach(async () => {
  data = await newFolder();
});

/** Starts a service on the data of the test, and looks at them beside it. */
async function start(settings = {}, timeouts?: Partial<Timeouts>): Promise<Started> {
  const own = await started({ data, ...settings }, {}, timeouts);
  if (own.firstToken) authorization = `Bearer ${own.firstToken}`;
  service = own;
  await look(data);
  return own;
}

async function look(folder: string): Promise<void> {
  const database = await sqliteIn(folder);
  onTestFinished(() => database.close());
  beside = database;
}

const rows = () => fileRows(beside);

/** Asks until it is so; a test that waits for ever fails by its own time limit. */
async function until(what: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await what())) await new Promise((resolve) => setTimeout(resolve, 5));
}
const untilGone = () => until(async () => `${await rows()}` === '0,0,0');
const untilBegun = () => until(async () => (await rows())[2] !== 0);

/** A connection on which a POST with these headers and this beginning of a body was sent. */
function open(headers: Record<string, string | number>, body: string | Uint8Array = ''): Spoken {
  const head = Object.entries({ host: 'localhost', 'content-type': FORM_TYPE, ...headers })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
  return speak(service.port, `POST /api/v2/pushes HTTP/1.1\r\n${head}\r\n`, body);
}

/** The same with a token, of which as much as `upTo` says is sent. */
const sending = (body: Uint8Array, upTo: number, length = body.length) =>
  open({ authorization, 'content-length': length }, body.subarray(0, upTo));

const large = (bytes = 8 * MIB) => formBytes([filePart('a', randomBytes(bytes))]);

async function send(body: Uint8Array) {
  const response = await fetch(`${service.url}/api/v2/pushes`, {
    method: 'POST',
    headers: { 'content-type': FORM_TYPE, authorization },
    body: body as Uint8Array<ArrayBuffer>,
  });
  const json = (await response.json()) as { url_token: string };
  return { status: response.status, token: json.url_token };
}

/** Uploads a file of those bytes; answers its link. */
async function uploaded(bytes: Buffer): Promise<string> {
  const { token } = await send(formBytes([filePart('a', bytes)]));
  const pushed = await fetch(`${service.url}/api/v2/pushes/${token}`);
  const { files } = (await pushed.json()) as { files: { url: string }[] };
  return files[0]?.url ?? '';
}

test('goes up and down over a socket to the byte, many at once', async () => {
  const { lines } = await start();
  const bodies = [10 * MIB, 64 * 1024, 5, 0, 3_000_001].map((size) => randomBytes(size));
  await Promise.all(
    bodies.map(async (bytes) => {
      const file = await fetch(await uploaded(bytes));
      expect(bytes.equals(Buffer.from(await file.arrayBuffer()))).toBe(true);
    }),
  );
  expect(lines.filter((line) => /GET \/files\/:link 200 \d+ms \d+B$/.test(line))).toHaveLength(5);
});

describe('an upload that is cut off leaves nothing', () => {
  test.each([
    ['in a file', 6 * MIB],
    ['in its last boundary', -5],
  ])('%s', async (_, upTo) => {
    await start();
    const { socket } = sending(large(), upTo);
    await untilBegun();
    expect((await rows())[1]).toBe(0);
    socket.destroy();
    await untilGone();
    expect(await beside.sql`SELECT id FROM pushes`).toEqual([]);
  });

  test('when it ends short of its last boundary, with an answer', async () => {
    await start();
    expect((await send(large().subarray(0, -10))).status).toBe(400);
    await untilGone();
  });

  test('when nothing moves any more', async () => {
    await start({}, { idle: 200 });
    expect(await sending(large(), 6 * MIB).ended).toBe('');
    await untilGone();
  });

  test('when the service stops', async () => {
    const { close } = await start();
    const { socket } = sending(large(), 6 * MIB);
    await untilBegun();
    const closed = close();
    socket.destroy();
    await closed;
    // What it had no time for any more is done at the next start.
    await start();
    await untilGone();
  });

  test('when the service is killed, once it is there again', async () => {
    // Nothing of this process opens those data: libsql lets go of a database when its statements are collected, and
    // with it of locks that the services' processes count on.
    const world = makePerson();
    const copied = async (name: string) => {
      await cp(data, join(world.folder, name), { recursive: true });
      await look(join(world.folder, name));
      return rows();
    };
    data = join(world.folder, 'data');
    const first = await serveBuilt(world.env);
    authorization = `Bearer ${first.token}`;
    service = { url: first.url, port: Number(new URL(first.url).port) };
    const { socket } = sending(large(), 7 * MIB, 99 * MIB);
    await until(async () => (await stat(join(data, 'pwpush.db'))).size > 4 * MIB);
    await first.kill();
    socket.destroy();
    expect((await copied('before'))[2]).toBeGreaterThan(0);

    const second = await serveBuilt(world.env);
    const left = () => rowsOf(join(data, 'pwpush.db'), 'SELECT id FROM uploads');
    await until(async () => (await left())[0]?.length === 0);
    expect((await second.stop()).code).toBe(0);
    expect(await copied('after')).toEqual([0, 0, 0]);
  });
});

describe('a limit is told while the client is still sending', () => {
  test('and the connection goes on when it has sent the rest', async () => {
    await start({ maxFileSize: MIB });
    const body = large(5 * MIB);
    const { socket, text, ended } = sending(body, 3 * MIB);
    await until(() => text().includes('larger than 1.0 MiB'));
    expect(text()).toMatch(/^HTTP\/1\.1 413 /);
    await untilGone();
    socket.write(body.subarray(3 * MIB));
    socket.write('GET /up HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n');
    expect((await ended).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200']);
  });

  test.each([
    ['for so many bytes only', { bytes: 2 * MIB, milliseconds: 60_000 }],
    ['for so long only', { bytes: 1000 * MIB, milliseconds: 300 }],
  ])('%s', async (_, rest) => {
    await start({ maxFileSize: MIB }, { rest });
    // The length alone is too much; the client sends all the same.
    const { socket, ended } = open({ authorization, 'content-length': 10_000 * MIB });
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
    const body = formBytes(Array.from({ length: 11 }, (_, i) => filePart(`${i}`, 'x')));
    const { text, socket } = sending(body, -10, body.length + 100);
    await until(() => text().includes('Too many files (maximum is 10).'));
    expect(text()).toMatch(/^HTTP\/1\.1 422 /);
    socket.destroy();
  });

  test('and an endless body is endless no longer', async () => {
    await start({ maxFileSize: MIB });
    const begin = formBytes([filePart('a', Buffer.alloc(8192))]).subarray(0, 4096);
    const { socket, text } = open(
      { authorization, 'transfer-encoding': 'chunked' },
      `1000\r\n${begin.toString('latin1')}\r\n`,
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
    await untilGone();
  });
});

describe('whoever waits to be asked for the body', () => {
  const waiting = { 'content-length': MIB, expect: '100-continue' };

  test.each([
    ['without a token', () => ({}), 401],
    ['with a wrong one', () => ({ authorization: 'Bearer pwp_x' }), 401],
    [
      'with a length that cannot be right',
      () => ({ authorization, 'content-length': 100_000 * MIB }),
      413,
    ],
  ])('%s is answered at once, and the connection ends', async (_, headers, status) => {
    await start();
    const text = await open({ ...waiting, ...headers() }).ended;
    expect(text.slice(0, 12)).toBe(`HTTP/1.1 ${status}`);
    expect(text).toMatch(/\r\nconnection: close\r\n/i);
  });

  test('is asked for it when it may come', async () => {
    await start();
    const body = formBytes([filePart('a', 'A')]);
    const { socket, text } = open({ ...waiting, authorization, 'content-length': body.length });
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
  const { socket } = sending(large(), 6 * MIB);
  await untilBegun();
  expect((await send(formBytes([filePart('b', 'B')]))).status).toBe(201);
  socket.destroy();
  await until(async () => (await rows())[0] === 1);
});

test('a download that is left early is let go of', async () => {
  const { close, lines } = await start();
  const response = await fetch(await uploaded(randomBytes(20 * MIB)));
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  await reader.read();
  await reader.cancel();
  // It would wait for running requests.
  await close();
  expect(lines.filter((line) => line.includes('error'))).toEqual([]);
});

test('a file that was tampered with breaks off, and cannot be taken for whole', async () => {
  const { lines } = await start();
  const link = await uploaded(randomBytes(20 * 65_536));
  await beside.sql`UPDATE chunks SET sealed = x'00' WHERE number = 15`;
  const response = await fetch(link);
  expect(response.headers.get('content-length')).toBe(`${20 * 65_536}`);
  await expect(response.arrayBuffer()).rejects.toThrow();
  expect(lines.filter((line) => / error Error at /.test(line))).toHaveLength(1);
});
