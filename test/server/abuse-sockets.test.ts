import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Patience } from '../../src/server/exchange';
import { createSockets, type Sockets } from '../../src/server/sockets';
import { notedDatabase, overDatabase } from '../helpers/over-database';
import { call, create, createWithFiles, type TestService, testService } from '../helpers/service';

const MIB = 1024 * 1024;

let service: TestService;
let sockets: Sockets;
let port: number;

beforeEach(async () => {
  service = await testService();
});

afterEach(async () => {
  await sockets.stop();
  await service.close();
});

/** As patient as a service is, but for what the test is about. */
async function listening(patience: Partial<Patience> = {}, app = service.service.app) {
  sockets = createSockets(app, [{ host: '127.0.0.1', port: 0 }], {
    tls: undefined,
    log: service.service.log,
    now: service.clock.now,
    patience: {
      head: 60_000,
      idle: 60_000,
      body: 60_000,
      rest: { bytes: MIB, milliseconds: 1000 },
      ...patience,
    },
    grace: 1000,
  });
  const [place] = await sockets.listen();
  port = Number(new URL(place?.url ?? '').port);
}

interface Spoken {
  readonly socket: Socket;
  /** All that came until the connection was closed. */
  readonly ended: Promise<string>;
}

function speak(...said: (string | Buffer)[]): Spoken {
  const socket = connect(port, '127.0.0.1');
  for (const piece of said) socket.write(piece);
  let received = '';
  socket.setEncoding('utf8').on('data', (text) => {
    received += text;
  });
  socket.on('error', () => undefined);
  const ended = new Promise<string>((resolve) => socket.on('close', () => resolve(received)));
  return { socket, ended };
}

const statuses = (received: string) =>
  [...received.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => Number(status));

/** Sends as long as somebody takes it. */
function flood(socket: Socket): void {
  const more = () => {
    if (!socket.destroyed) socket.write(Buffer.alloc(MIB, 'x'), (error) => error ?? more());
  };
  more();
}

const accepting = async () => (await once(sockets.servers[0] as Server, 'connection'))[0] as Socket;

/** Counts how often somebody begins to wait for the end of what is written to that socket. */
function waits(socket: Socket): () => number {
  let count = 0;
  socket.on('newListener', (event) => {
    if (event === 'finish') count += 1;
  });
  return () => count;
}

const post = (headers: string) => `POST /api/v2/pushes HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;
const form = 'Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 5000\r\n';

test('a request that names two hosts is answered with 400, for both could be meant', async () => {
  await listening();
  const { ended } = speak('GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n');
  expect(statuses(await ended)).toEqual([400]);
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
    const drip = setInterval(() => said.length > 0 && socket.writable && socket.write('x'), 20);
    expect(statuses(await ended)).toEqual([408]);
    clearInterval(drip);
    expect(service.lines).toEqual([expect.stringMatching(/Z - - 408 0ms \d+B$/)]);
  });

  test('has so long for a second request, too', async () => {
    await listening({ head: 200 });
    const { ended } = speak('GET /up HTTP/1.1\r\nHost: x\r\n\r\nGET /up HTTP/1.1\r\nX: ');
    expect(statuses(await ended)).toEqual([200, 408]);
  });

  test.each([
    ['JSON', post('Content-Type: application/json\r\nContent-Length: 5000\r\n')],
    ['a form from nobody', post(form)],
    ['a body that nobody reads', post('Content-Length: 5000\r\n').replace('POST', 'GET')],
  ])('has so long for a body, however it drips: %s', async (_, said) => {
    await listening({ body: 200, rest: { bytes: MIB, milliseconds: 200 } });
    const { socket, ended } = speak(said);
    const drip = setInterval(() => socket.writable && socket.write('x'), 20);
    await ended;
    clearInterval(drip);
    expect(service.lines.length).toBeLessThan(2);
    await create(service, { payload: 'still there' });
  });

  test('may take longer with a form that may bring files, as long as it moves', async () => {
    await listening({ body: 100, idle: 5000 });
    const name = '--b\r\nContent-Disposition: form-data; name="push[payload]"\r\n\r\n';
    const text = `${name}${'x'.repeat(60)}\r\n--b--\r\n`;
    const head = form.replace('5000', `${text.length}`);
    const said = post(
      `${head}Authorization: Bearer ${service.adminToken}\r\nConnection: close\r\n`,
    );
    const { socket, ended } = speak(said);
    const letters = [...text];
    const drip = setInterval(() => {
      const letter = letters.shift();
      if (letter !== undefined) socket.write(letter);
    }, 5);
    expect(statuses(await ended)).toEqual([201]);
    clearInterval(drip);
  });

  test('and reads no answer is not listened to either, and cut', async () => {
    await listening({ idle: 300 });
    const token = await create(service, { payload: 'x'.repeat(MIB) });
    const { socket } = speak(`GET /api/v2/pushes/${token} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(30));
    const accepted = await accepting();
    socket.pause();
    socket.write('\0');
    flood(socket);
    await once(accepted, 'close');
  });
});

describe('what goes on and on', () => {
  test('and is no HTTP is answered, logged and waited for once', async () => {
    await listening();
    const { socket, ended } = speak();
    const accepted = await accepting();
    const waited = waits(accepted);
    socket.end(Buffer.concat([Buffer.from('hello\r\n\r\n'), Buffer.alloc(8 * MIB, 'x')]));
    await Promise.all([ended, once(accepted, 'close')]);
    expect(service.lines).toEqual([expect.stringMatching(/Z - - 400 0ms \d+B$/)]);
    expect(waited()).toBe(1);
  });

  test('after its answer is read no further than so far', async () => {
    await listening({ rest: { bytes: 1, milliseconds: 60_000 } });
    const { socket } = speak();
    const accepted = await accepting();
    const waited = waits(accepted);
    const head = post(`Content-Type: application/json\r\nContent-Length: ${64 * MIB}\r\n`);
    socket.write(Buffer.concat([Buffer.from(head), Buffer.alloc(8 * MIB)]));
    flood(socket);
    await once(accepted, 'close');
    expect(accepted.bytesRead).toBeLessThan(2 * MIB);
    expect(waited()).toBeLessThan(2);
  });
});

test('a download that nobody reads is not read from the database, and ends', async () => {
  const { database, statements } = await notedDatabase();
  const over = overDatabase(database);
  await listening({ idle: 500 }, over.app);
  const token = await over.owners.add('admin');
  const size = 40 * MIB;
  const pushed = await createWithFiles(
    { fetch: over.fetch, adminToken: token },
    {
      name: 'push[files][]',
      filename: 'a',
      value: Buffer.alloc(size),
    },
  );
  const { json } = await call(over, 'GET', `/api/v2/pushes/${pushed}`);
  const { pathname } = new URL(json.files[0].url);
  statements.length = 0;
  const { socket } = speak();
  socket.pause();
  const accepted = await accepting();
  socket.write(`GET ${pathname} HTTP/1.1\r\nHost: x\r\n\r\n`);
  await once(accepted, 'close');
  const read = statements.filter((statement) => /FROM chunks/.test(statement)).length;
  expect(read).toBeGreaterThan(0);
  expect(read * 65_536).toBeLessThan(size / 2);
  socket.destroy();
  await sockets.stop();
  await database.close();
});
