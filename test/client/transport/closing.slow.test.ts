import { once } from 'node:events';
import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { undiciTransport } from '../../../src/client/transport/undici';
import { socketServer } from '../../helpers/listen';

/** undici's buffer: a body that fills it with its last byte makes undici pause before the end. */
const BUFFER = 65_536;

/** The rest of a response with that body, from its headers on. */
type Framing = (body: string) => string;

const length: Framing = (body) => `content-length: ${body.length}\r\n\r\n${body}`;
const chunk: Framing = (body) =>
  `transfer-encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
const closed =
  (framing: Framing): Framing =>
  (body) =>
    `connection: close\r\n${framing(body)}`;
const framings: Readonly<Record<string, Framing>> = {
  'a length': length,
  'a length and "close"': closed(length),
  chunks: chunk,
  'chunks and "close"': closed(chunk),
  'no length': (body) => `\r\n${body}`,
};

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate);
}

interface Ending {
  /** How many bytes are left out at the end. */
  readonly missing?: number;
  readonly reset?: boolean;
}

/** Asks a server that closes as soon as it has answered, and reads on only when it has. */
async function readAfterClosing(framing: Framing, length: number, how: Ending = {}) {
  const { missing = 0, reset = false } = how;
  const [head = '', body = ''] = framing('x'.repeat(length)).split(/(?<=\r\n\r\n|^\r\n)(.*)/s);
  let sent: Promise<unknown> | undefined;
  let accepted: Socket | undefined;
  const server = await socketServer((socket) => {
    sent = once(socket, 'finish');
    socket.once('data', () => {
      socket.write(`HTTP/1.1 200 OK\r\n${head}`);
      const wanted = body.slice(0, body.length - missing);
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
  const lengths = [1, BUFFER - 1, BUFFER, BUFFER + 1, 2 * BUFFER, 3_000_000];
  test.each(lengths)('of %i bytes is whole though the connection closes after it', async (length) => {
    for (let round = 0; round < 5; round++) expect(await readAfterClosing(framing, length)).toBe(length);
  });

  if (name === 'no length') return;
  test.each([BUFFER, 3_000_000])('of %i bytes is not if the last is missing', async (length) => {
    const short = readAfterClosing(framing, length, { missing: 1 });
    await expect(short).rejects.toMatchObject({ facts: [{ name: 'incomplete' }] });
  });
});

test('a body that has arrived survives a reset of the connection', async () => {
  for (let round = 0; round < 5; round++) expect(await readAfterClosing(length, BUFFER, { reset: true })).toBe(BUFFER);
});
