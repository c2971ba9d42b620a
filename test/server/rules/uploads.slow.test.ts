import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { Timeouts } from '../../../src/server/http/hardening/timeouts';
import type { Database } from '../../../src/server/store/sql';
import { type Spoken, speak } from '../../helpers/listen';
import { folders } from '../../helpers/memory';
import { FORM_TYPE, filePart, fileRows, formBytes } from '../../helpers/service';
import { sqliteIn } from '../../helpers/stores';
import { type Started, started } from '../on-sockets';

const MIB = 1024 * 1024;

const newFolder = folders();
let data: string;
let service: Started;
let beside: Database;
let authorization: string;

beforeEach(async () => {
  data = await newFolder();
});

async function start(settings = {}, timeouts?: Partial<Timeouts>): Promise<Started> {
  const own = await started({ data, ...settings }, {}, timeouts);
  if (own.firstToken) authorization = `Bearer ${own.firstToken}`;
  service = own;
  const database = await sqliteIn(data);
  onTestFinished(() => database.close());
  beside = database;
  return own;
}

const rows = () => fileRows(beside);

const untilGone = () => expect.poll(rows, { message: 'nothing of the upload is left' }).toEqual([0, 0, 0]);
const untilBegun = () => expect.poll(async () => (await rows())[2], { message: 'the upload has begun' }).not.toBe(0);

function sending(body: Uint8Array, upTo: number): Spoken {
  const head = `Host: localhost\r\nContent-Type: ${FORM_TYPE}\r\nAuthorization: ${authorization}\r\n`;
  const start = `POST /api/v2/pushes HTTP/1.1\r\n${head}Content-Length: ${body.length}\r\n\r\n`;
  return speak(service.port, start, body.subarray(0, upTo));
}

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
});

test('a limit is told to a client that still sends, and the connection goes on after the rest', async () => {
  await start({ maxFileSize: MIB });
  const body = large(5 * MIB);
  const { socket, text, ended } = sending(body, 3 * MIB);
  await expect.poll(text, { message: 'the limit is told' }).toMatch(/^HTTP\/1\.1 413 [\s\S]*larger than 1\.0 MiB/);
  await untilGone();
  socket.write(body.subarray(3 * MIB));
  socket.write('GET /up HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n');
  expect((await ended).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200']);
});

test('others can write while an upload stands still', async () => {
  await start();
  const { socket } = sending(large(), 6 * MIB);
  await untilBegun();
  expect((await send(formBytes([filePart('b', 'B')]))).status).toBe(201);
  socket.destroy();
  await expect.poll(async () => (await rows())[0], { message: 'the upload is gone, and the other file there' }).toBe(1);
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
