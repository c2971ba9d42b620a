import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { undiciTransport } from '../../../src/client/transport/undici';
import { type Listens, listening, socketServer } from '../../helpers/listen';
import { needsPrograms } from '../../helpers/needs';
import {
  CREATED,
  changed,
  EXPIRED,
  NOTIFIED,
  PREVIEWED,
  RETRIEVED,
  VERSION,
} from '../../helpers/reference';
import { place } from '../../helpers/run';
import { pass } from '../../helpers/sockets';

// Every call against every way to fail, over real sockets: how often it was sent, what was waited for, and how
// it ends. docs/wire.md, "What a retrieval costs": retrieval and creation are repeated only when they never left.

const open: Listens[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

const FILE = join(import.meta.dirname, '../../../LICENSE');

/** The calls that may be repeated, and what answers them. */
const harmless = {
  version: { argv: ['version'], answer: VERSION },
  preview: { argv: ['preview', 'quyul5r5w08'], answer: PREVIEWED },
  audit: { argv: ['audit', 'quyul5r5w08'], answer: '{"logs":[]}' },
  expire: { argv: ['expire', 'quyul5r5w08'], answer: EXPIRED },
  active: { argv: ['list'], answer: '[]' },
  expired: { argv: ['list', 'expired'], answer: '[]' },
};
/** Those that leave something behind each time. */
const creations = {
  create: { argv: ['push', 'hunter2'], answer: CREATED },
  upload: { argv: ['push', '--file', FILE], answer: CREATED },
  notify: { argv: ['notify', 'quyul5r5w08', 'ann@example.com'], answer: NOTIFIED },
};
const retrieval = { retrieve: { argv: ['get', 'quyul5r5w08'], answer: RETRIEVED } };
const calls = { ...harmless, ...creations, ...retrieval };

/** Code, requests and seconds waited, in short. */
type Outcome = readonly [code: number, requests: number, ...waits: number[]];

interface Expected {
  readonly harmless: Outcome;
  readonly creation: Outcome;
  readonly retrieval: Outcome;
  readonly download: Outcome;
}

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
/** For longer than whoever waits for it. */
const STALL: Misdeed = () => pass(LIMIT);
const saying =
  (status: number, retryAfter?: number): Misdeed =>
  (socket) => {
    const wait = retryAfter === undefined ? '' : `retry-after: ${retryAfter}\r\n`;
    socket.end(`HTTP/1.1 ${status} No\r\n${wait}content-length: 0\r\nconnection: close\r\n\r\n`);
  };

const matrix: [string, Misdeed, Expected][] = [
  [
    'reset before headers',
    RESET,
    { harmless: [11, 2], creation: [11, 1], retrieval: [11, 1], download: [1, 3, 1, 3] },
  ],
  [
    'reset after headers',
    CUT,
    { harmless: [11, 2], creation: [11, 1], retrieval: [11, 1], download: [1, 3, 1, 3] },
  ],
  [
    'stalled',
    STALL,
    { harmless: [11, 1], creation: [11, 1], retrieval: [11, 1], download: [1, 3, 1, 3] },
  ],
  [
    '429',
    saying(429),
    { harmless: [10, 1], creation: [10, 1], retrieval: [10, 1], download: [1, 3, 1, 3] },
  ],
  [
    '429, wait 40 s',
    saying(429, 40),
    { harmless: [10, 2, 40], creation: [10, 2, 40], retrieval: [10, 1], download: [1, 3, 40, 40] },
  ],
  [
    '502',
    saying(502),
    { harmless: [1, 1], creation: [11, 1], retrieval: [11, 1], download: [1, 3, 1, 3] },
  ],
  [
    '502, wait 40 s',
    saying(502, 40),
    { harmless: [1, 1], creation: [11, 1], retrieval: [11, 1], download: [1, 3, 40, 40] },
  ],
  [
    '503',
    saying(503),
    { harmless: [1, 1], creation: [11, 1], retrieval: [11, 1], download: [1, 3, 1, 3] },
  ],
  [
    '503, wait 40 s',
    saying(503, 40),
    { harmless: [1, 2, 40], creation: [11, 1], retrieval: [11, 1], download: [1, 3, 40, 40] },
  ],
  [
    '504',
    saying(504),
    { harmless: [1, 1], creation: [11, 1], retrieval: [11, 1], download: [1, 3, 1, 3] },
  ],
];

/** One outcome for each call of each kind. */
function spread(expected: Expected) {
  const each = (names: object, outcome: Outcome) =>
    Object.fromEntries(Object.keys(names).map((name) => [name, outcome]));
  return {
    ...each(harmless, expected.harmless),
    ...each(creations, expected.creation),
    ...each(retrieval, expected.retrieval),
    download: expected.download,
  };
}

/** Runs a command line with the real transport, and no real waiting. */
async function ran(argv: readonly string[], url: string, misdeed?: Misdeed) {
  const here = place({ transport: undiciTransport, env: { PWPUSH_EDITION: 'oss' } });
  // An upload looks at its socket so many times, for which nothing but time can pass.
  const timeout = misdeed === STALL && argv.includes('--file') ? 2 : LIMIT;
  try {
    const { code } = await here.run(...argv, '--url', url, '--timeout', `${timeout}`);
    return { code, waits: here.sleeps.map((milliseconds) => milliseconds / 1000) };
  } finally {
    here.close();
  }
}

/** Hands each whole request to `talk`. */
async function instance(talk: (socket: Socket, line: string) => void) {
  const server = await socketServer((socket) => {
    let text = '';
    socket.on('data', (data) => {
      text += data.toString('latin1');
      const [head = '', body] = text.split(/\r\n\r\n(.*)/s);
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
      if (body === undefined || body.length < length) return;
      text = '';
      talk(socket, head.split('\r\n')[0] ?? '');
    });
  });
  open.push(server);
  return `http://127.0.0.1:${server.port}`;
}

async function callFailing(argv: readonly string[], misdeed: Misdeed): Promise<Outcome> {
  let requests = 0;
  const url = await instance((socket) => {
    requests++;
    misdeed(socket);
  });
  const { code, waits } = await ran(argv, url, misdeed);
  return [code, requests, ...waits];
}

/** The retrieval succeeds; what fails is the link of its file. */
async function downloadFailing(misdeed: Misdeed): Promise<Outcome> {
  let requests = 0;
  let url = '';
  url = await instance((socket, line) => {
    if (line.startsWith('GET /file')) {
      requests++;
      return misdeed(socket);
    }
    const files = [{ filename: 'a', content_type: 'text/plain', url: `${url}/file` }];
    const body = changed(RETRIEVED, { files, payload: '' });
    socket.write(
      `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
  });
  const folder = mkdtempSync(join(tmpdir(), 'pwpush-test-'));
  const { code, waits } = await ran(['get', 'quyul5r5w08', '-o', folder], url, misdeed);
  rmSync(folder, { recursive: true });
  return [code, requests, ...waits];
}

describe('once the request left', () => {
  test.each(matrix)('%s', async (_how, misdeed, expected) => {
    // One by one: the time that passes for one does so for all.
    const outcomes: Record<string, Outcome> = { download: await downloadFailing(misdeed) };
    for (const [name, { argv }] of Object.entries(calls))
      outcomes[name] = await callFailing(argv, misdeed);
    expect(outcomes).toEqual(spread(expected));
  });
});

test('exits with 11 if the connection breaks and the second try is refused', async () => {
  for (const { argv } of Object.values(harmless)) {
    const server = await socketServer((socket) => {
      socket.once('data', () => {
        void server.close();
        socket.destroy();
      });
    });
    const { code } = await ran(argv, `http://127.0.0.1:${server.port}`);
    expect(code).toBe(11);
  }
});

describe('what succeeds is sent once', () => {
  test.each(Object.entries(calls))('%s', async (_name, { argv, answer }) => {
    const status = answer === CREATED || answer === NOTIFIED ? '201 Created' : '200 OK';
    const good: Misdeed = (socket) => {
      socket.write(
        `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${answer.length}\r\n\r\n${answer}`,
      );
    };
    expect(await callFailing(argv, good)).toEqual([0, 1]);
  });
});

describe('before the request left: unreachable, and nothing is waited for', () => {
  const all = Object.entries(calls);
  const outcomes = async (url: string) =>
    Object.fromEntries(
      await Promise.all(
        all.map(async ([name, { argv }]) => {
          const { code, waits } = await ran(argv, url);
          return [name, [code, ...waits]];
        }),
      ),
    );
  const unreachable = Object.fromEntries(all.map(([name]) => [name, [9]]));

  test('refused', async () => {
    const gone = await listening(() => {});
    await gone.close();
    expect(await outcomes(`http://127.0.0.1:${gone.port}`)).toEqual(unreachable);
  });

  test('a name that does not resolve', async () => {
    expect(await outcomes('https://no-such-host.invalid')).toEqual(unreachable);
  });

  test('no TLS at the other end: nothing but its beginning is sent', async () => {
    const seen: Buffer[] = [];
    const plain = await socketServer((socket) => {
      socket.on('data', (data) => {
        seen.push(data);
        socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
      });
    });
    open.push(plain);
    expect(await outcomes(`https://127.0.0.1:${plain.port}`)).toEqual(unreachable);
    // A record of a handshake begins with 22 (RFC 8446, 5.1); one each, and none of it a second time.
    expect(seen.map(([first]) => first)).toEqual(all.map(() => 22));
  });

  const folder = mkdtempSync(join(tmpdir(), 'pwpush-tls-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  test('an untrusted certificate', needsPrograms('openssl'), async () => {
    const line =
      'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost -keyout key.pem -out cert.pem';
    execFileSync('openssl', line.split(' '), { cwd: folder, stdio: 'ignore' });
    const read = (name: string) => readFileSync(join(folder, name), 'utf8');
    const server = await listening(() => {}, { key: read('key.pem'), cert: read('cert.pem') });
    open.push(server);
    expect(await outcomes(`https://localhost:${server.port}`)).toEqual(unreachable);
    expect(server.seen).toEqual([]);
  });
});
