import { once } from 'node:events';
import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { undiciTransport } from '../../../src/client/transport/undici';
import { socketServer } from '../../helpers/listen';

/** undici's buffer: a body that fills it with its last byte makes undici pause before the end. */
const BUFFER = 65_536;

/** A header, and a body of so many bytes as it is sent with it. */
interface Framing {
  readonly header: (length: number) => string;
  readonly body?: (bytes: Buffer) => Buffer;
}

const chunked: Required<Framing> = {
  header: () => 'transfer-encoding: chunked\r\n',
  body: (bytes) =>
    Buffer.concat([
      Buffer.from(`${bytes.length.toString(16)}\r\n`),
      bytes,
      Buffer.from('\r\n0\r\n\r\n'),
    ]),
};
const framings: Readonly<Record<string, Framing>> = {
  'a length': { header: (length) => `content-length: ${length}\r\n` },
  'a length and "close"': {
    header: (length) => `connection: close\r\ncontent-length: ${length}\r\n`,
  },
  chunks: chunked,
  'chunks and "close"': { ...chunked, header: () => `connection: close\r\n${chunked.header(0)}` },
  'no length': { header: () => '' },
};

interface Answer {
  readonly framing: Framing;
  readonly length: number;
  /** How many bytes are left out at the end. */
  readonly missing?: number;
  readonly reset?: boolean;
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate);
}

/** Asks a server that closes as soon as it has answered, and reads on only when it has. */
async function readAfterClosing({ framing, length, missing = 0, reset }: Answer): Promise<number> {
  let sent: Promise<unknown> | undefined;
  let accepted: Socket | undefined;
  const server = await socketServer((socket) => {
    sent = once(socket, 'finish');
    socket.once('data', () => {
      const bytes = Buffer.alloc(length, 'x');
      const body = framing.body?.(bytes) ?? bytes;
      socket.write(`HTTP/1.1 200 OK\r\n${framing.header(length)}\r\n`);
      const wanted = body.subarray(0, body.length - missing);
      if (reset) socket.write(wanted, () => (accepted = socket));
      else socket.end(wanted);
    });
  });
  const transport = undiciTransport({ timeout: 5, env: {} });
  try {
    const request = { method: 'GET', url: server.url, headers: {} } as const;
    const { body } = await transport.send(request);
    // What fits into the buffer has arrived by then, and the end too.
    if (length <= BUFFER && !reset) await sent;
    await turns(5);
    accepted?.resetAndDestroy();
    await turns(5);
    let read = 0;
    for await (const piece of body) {
      read += piece.length;
      // Slowly enough for the server to close meanwhile.
      await turns(5);
    }
    return read;
  } finally {
    await transport.close();
    await server.close();
  }
}

describe.each(Object.entries(framings))('a body with %s', (name, framing) => {
  test.each([1, BUFFER - 1, BUFFER, BUFFER + 1, 2 * BUFFER, 3_000_000])(
    'of %i bytes is whole although the connection closes after it',
    async (length) => {
      for (let round = 0; round < 5; round++)
        expect(await readAfterClosing({ framing, length })).toBe(length);
    },
  );

  if (name === 'no length') return;
  test.each([BUFFER, 3_000_000])('of %i bytes is not if the last is missing', async (length) => {
    const short = readAfterClosing({ framing, length, missing: 1 });
    await expect(short).rejects.toMatchObject({ facts: [{ name: 'incomplete' }] });
  });
});

test('a body that has arrived survives a reset of the connection', async () => {
  const framing = framings['a length'] as Framing;
  const answer = { framing, length: BUFFER, reset: true };
  for (let round = 0; round < 5; round++) expect(await readAfterClosing(answer)).toBe(BUFFER);
});
