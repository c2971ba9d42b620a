import type { Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { undiciTransport } from '../../../src/client/transport/undici';
import { type Listening, socketServer } from '../../helpers/sockets';

let server: Listening | undefined;
afterEach(() => server?.close());

/** Asks a server that closes as soon as it has answered, and reads on only when it has. */
async function readAfterClosing(length: number, sent = length): Promise<number> {
  server = await socketServer((socket: Socket) => {
    socket.once('data', () => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\n\r\n`);
      socket.end(Buffer.alloc(sent, 'x'));
    });
  });
  const transport = undiciTransport({ timeout: 5, env: {} });
  try {
    const url = `http://127.0.0.1:${server.port}/`;
    const { body } = await transport.send({ method: 'GET', url, headers: {} });
    let read = 0;
    for await (const piece of body) {
      read += piece.length;
      // Slowly enough for the server to close meanwhile.
      for (let round = 0; round < 5; round++) await new Promise(setImmediate);
    }
    return read;
  } finally {
    await transport.close();
  }
}

test('an answer is whole although the connection closes after it', async () => {
  for (let round = 0; round < 20; round++) {
    expect(await readAfterClosing(3_000_000)).toBe(3_000_000);
    await server?.close();
    server = undefined;
  }
});

test('one that lacks a byte is not', async () => {
  await expect(readAfterClosing(3_000_000, 2_999_999)).rejects.toThrow('no complete response');
});
