import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { undiciTransport } from '../../../src/client/transport/undici';
import type { HttpSettings } from '../../../src/platform/context';
import { phrase } from '../../../src/platform/errors';
import { joined } from '../../helpers/age';
import { listening, socketServer } from '../../helpers/listen';
import { times } from '../../helpers/long';
import { proxying } from '../../helpers/sockets';
import { cert, key } from '../../server/certificate';

const LENGTH = 16 * 1024 * 1024;
const PIECE = Buffer.alloc(128 * 1024, 'x');
async function* pieces(length: number): AsyncGenerator<Uint8Array> {
  for (let left = length; left > 0; left -= PIECE.length) yield PIECE.subarray(0, left);
}

/** Sends so many bytes as a stream, and returns what came back. */
async function upload(url: string, length: number, options: Partial<HttpSettings> = {}, bytes = pieces) {
  const transport = undiciTransport({ timeout: 5, env: {}, ...options });
  const body = { length, [Symbol.asyncIterator]: () => bytes(length) };
  try {
    const answer = await transport.send({ method: 'POST', url, headers: {}, body });
    return { status: answer.status, text: `${await joined(answer.body)}` };
  } finally {
    await transport.close();
  }
}

/** A listener on a thread of its own, so that this one can stand still: it answers the first bytes and hangs up. */
const HASTY = `
const { workerData, parentPort } = require('node:worker_threads');
const server = require('node:net').createServer((socket) => {
  socket.on('error', () => {});
  socket.once('data', () => {
    socket.write('HTTP/1.1 413 Too Large\\r\\ncontent-length: 3\\r\\nconnection: close\\r\\n\\r\\nbig', () => {
      socket.resetAndDestroy();
      socket.once('close', () => {
        Atomics.store(workerData, 0, 1);
        Atomics.notify(workerData, 0);
      });
    });
  });
});
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

test('an answer is read though the first write after it fails at once', async () => {
  const gone = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(HASTY, { eval: true, workerData: gone });
  const [port] = (await once(worker, 'message')) as [number];
  const got = await upload(`http://127.0.0.1:${port}/`, 8 * PIECE.length, {}, async function* () {
    yield PIECE;
    // Until the other side is gone nothing else happens here, so that no event can tell of it.
    Atomics.wait(gone, 0, 0);
    yield* pieces(7 * PIECE.length);
  });
  await worker.terminate();
  expect(got).toEqual({ status: 413, text: 'big' });
});

test('what the body throws is what the sender gets', async () => {
  const { url } = await listening(() => {});
  const failure = new Error('the file is gone');
  // biome-ignore lint/correctness/useYield: it fails before it has anything
  const failing = upload(url, 10, {}, async function* () {
    throw failure;
  });
  await expect(failing).rejects.toBe(failure);
});

const counting: RequestListener = (request, response) => {
  let got = 0;
  request.on('data', (data) => {
    got += data.length;
  });
  request.on('end', () => response.end(`${request.url} ${got}`));
};

describe('over TLS', () => {
  const serving = (answer: RequestListener) => listening(answer, { key, cert });
  const sent = (port: number, options: Partial<HttpSettings> = {}, host = '127.0.0.1') =>
    upload(`https://${host}:${port}/a`, LENGTH, { ca: cert, ...options });

  test('all arrives, also through a proxy’s tunnel', async () => {
    const { port } = await serving(counting);
    const whole = { status: 200, text: `/a ${LENGTH}` };
    expect(await sent(port)).toEqual(whole);
    const { url } = await proxying(port);
    expect(await sent(port, { env: { HTTPS_PROXY: url } }, 'proxied.test')).toEqual(whole);
  });

  test('an early answer wins, though the connection is reset', async () => {
    const { port } = await serving((request, response) => {
      request.socket.pause();
      response.writeHead(413, { connection: 'close' }).end('big', () => {
        setImmediate(() => request.socket.destroy());
      });
    });
    expect(await sent(port)).toEqual({ status: 413, text: 'big' });
  });

  test('one that stalls is given up', async () => {
    const { port } = await serving((request) => request.pause());
    const facts = [phrase('takes-no-more', `127.0.0.1:${port}`, 1)];
    await expect(sent(port, { timeout: 1 })).rejects.toMatchObject({ facts, timedOut: true });
  });
});

test('through a proxy, over plain http', async () => {
  const proxy = await listening(counting);
  const got = await upload('http://pw.test/a', LENGTH, { env: { HTTP_PROXY: proxy.url } });
  expect(got).toEqual({ status: 200, text: `http://pw.test/a ${LENGTH}` });
});

describe('a server that answers before all was sent', () => {
  const REFUSAL = 'HTTP/1.1 413 No\r\ncontent-length: 3\r\nconnection: close\r\n\r\nbig';
  const PART = REFUSAL.slice(0, -1);

  test.each<[string, (socket: Socket) => void, string?]>([
    ['and resets', (socket) => socket.pause().write(REFUSAL, () => socket.resetAndDestroy())],
    ['and closes', (socket) => socket.pause().write(REFUSAL, () => socket.destroy())],
    ['and reads no more', (socket) => socket.pause().write(REFUSAL)],
    ['and reads the rest', (socket) => socket.resume().write(REFUSAL)],
    ['in part', (socket) => socket.pause().write(PART, () => socket.destroy()), 'bi'],
  ])('%s is heard, and not asked again', async (_how, talk, text = 'big') => {
    let connections = 0;
    const { url } = await socketServer((socket) => {
      connections += 1;
      socket.once('data', () => talk(socket));
    });
    for (let tries = 1; tries <= times(3); tries++) {
      expect(await upload(`${url}/`, 2 * LENGTH)).toEqual({ status: 413, text });
      expect(connections).toBe(tries);
    }
  });
});

test('one that moves is not cut, however long it takes', async () => {
  // Its looks for progress are made here, not by the clock: far more of them than the four without any that are a stall.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const [length, most] = [2 * LENGTH, 7];
  let looks = 0;
  const { url } = await listening((request, response) => {
    let got = 0;
    request.on('data', (data) => {
      got += data.length;
      // Less would be risky: a system may acknowledge several megabytes at once.
      if (looks === most || got <= ((looks + 1) * length) / (most + 1)) return;
      looks += 1;
      vi.advanceTimersByTime(15_000);
    });
    request.on('end', () => response.end(`${got}`));
  });
  expect((await upload(`${url}/`, length, { timeout: 60 })).text).toBe(`${length}`);
  expect(looks).toBe(most);
});
