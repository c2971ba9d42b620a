import type { Socket } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { undiciTransport } from '../../../src/client/transport/undici';
import { socketServer } from '../../helpers/listen';
import { place } from '../../helpers/run';
import { pass } from '../../helpers/sockets';

// Every call against every way to fail, over real sockets: how often it was sent, what was waited for, and how
// it ends; those that never left are in undici.test.ts, and downloads in
// deliver/save-file.test.ts. docs/wire.md, "What a retrieval costs": retrieval and creation are repeated only when they
// never left.

const FILE = join(import.meta.dirname, '../../../LICENSE');

const harmless = [
  ['version'],
  ['preview', 'quyul5r5w08'],
  ['audit', 'quyul5r5w08'],
  ['list'],
  ['list', 'expired'],
];
/** Those that leave something behind each time. */
const creations = [
  ['push', 'hunter2'],
  ['push', '--file', FILE],
  ['notify', 'quyul5r5w08', 'ann@example.com'],
];
const retrieval = [['get', 'quyul5r5w08']];
/** Those that may be sent twice, and whose outcome must be known. */
const ends = [['expire', 'quyul5r5w08']];

/** Code, requests and seconds waited, in short. */
type Outcome = readonly [code: number, requests: number, ...waits: number[]];

/** Seconds that an instance may take. */
const LIMIT = 60;

/** What a listener does with a request once it is in. */
type Misdeed = (socket: Socket) => void;

const RESET: Misdeed = (socket) => socket.resetAndDestroy();
const CUT: Misdeed = (socket) => {
  socket.write(
    'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{"',
    () => socket.resetAndDestroy(),
  );
};
const IN_CHUNKS: Misdeed = (socket) => {
  socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{"\r\n', () =>
    socket.resetAndDestroy(),
  );
};
/** For longer than whoever waits for it. */
const STALL: Misdeed = () => pass(LIMIT);
const saying =
  (status: number, retryAfter?: number): Misdeed =>
  (socket) => {
    const wait = retryAfter === undefined ? '' : `retry-after: ${retryAfter}\r\n`;
    socket.end(`HTTP/1.1 ${status} No\r\n${wait}content-length: 0\r\nconnection: close\r\n\r\n`);
  };

/** What becomes of each kind of call. */
const matrix: [string, Misdeed, harmless: Outcome, make: Outcome, get: Outcome, end: Outcome][] = [
  ['reset before headers', RESET, [11, 2], [11, 1], [11, 1], [11, 2]],
  ['reset after headers', CUT, [11, 2], [11, 1], [11, 1], [11, 2]],
  ['reset in chunks', IN_CHUNKS, [11, 2], [11, 1], [11, 1], [11, 2]],
  ['stalled', STALL, [11, 1], [11, 1], [11, 1], [11, 1]],
  ['429', saying(429), [10, 1], [10, 1], [10, 1], [10, 1]],
  ['429, wait 40 s', saying(429, 40), [10, 2, 40], [10, 2, 40], [10, 1], [10, 2, 40]],
  ['500', saying(500), [1, 1], [11, 1], [11, 1], [11, 2]],
  ['502', saying(502), [1, 1], [11, 1], [11, 1], [11, 2]],
  ['502, wait 40 s', saying(502, 40), [1, 1], [11, 1], [11, 1], [11, 2]],
  ['503', saying(503), [1, 1], [11, 1], [11, 1], [11, 2]],
  ['503, wait 40 s', saying(503, 40), [1, 2, 40], [11, 1], [11, 1], [11, 3, 40]],
  ['504', saying(504), [1, 1], [11, 1], [11, 1], [11, 2]],
  ['an empty success', saying(200), [1, 1], [11, 1], [11, 1], [11, 2]],
];

/** Runs a command line with the real transport, and no real waiting. */
async function ran(argv: readonly string[], url: string, misdeed?: Misdeed) {
  const here = place({ transport: undiciTransport, env: { PWPUSH_EDITION: 'oss' } });
  // An upload looks at its socket so many times, for which nothing but time can pass.
  const timeout = misdeed === STALL && argv.includes('--file') ? 2 : LIMIT;
  const { code } = await here.run(...argv, '--url', url, '--timeout', `${timeout}`);
  return { code, waits: here.sleeps.map((milliseconds) => milliseconds / 1000) };
}

/** The outcome where each whole request ends in that misdeed. */
async function callFailing(argv: readonly string[], misdeed: Misdeed): Promise<Outcome> {
  let requests = 0;
  const { url } = await socketServer((socket) => {
    let text = '';
    socket.on('data', (data) => {
      text += data.toString('latin1');
      const [head = '', body] = text.split(/\r\n\r\n(.*)/s);
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
      if (body === undefined || body.length < length) return;
      text = '';
      requests++;
      misdeed(socket);
    });
  });
  const { code, waits } = await ran(argv, url, misdeed);
  return [code, requests, ...waits];
}

test.each(matrix)('once the request left: %s', async (_how, misdeed, ...outcomes) => {
  // One by one: the time that passes for one does so for all.
  for (const [at, calls] of [harmless, creations, retrieval, ends].entries())
    for (const argv of calls)
      expect(await callFailing(argv, misdeed), argv[0]).toEqual(outcomes[at]);
});

test('exits with 11 if the connection breaks and the second try is refused', async () => {
  const server = await socketServer((socket) => {
    socket.once('data', () => {
      void server.close();
      socket.destroy();
    });
  });
  const { code } = await ran(['version'], server.url);
  expect(code).toBe(11);
});
