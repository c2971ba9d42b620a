import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { undiciTransport } from '../../../src/client/transport/undici';
import { phrase } from '../../../src/platform/errors';
import type { FactName } from '../../../src/platform/facts';
import { type Listening, type Listens, listen, listening, rawServer } from '../../helpers/listen';
import { CREATED, RETRIEVED, VERSION } from '../../helpers/reference';
import { failingAt, overSocket, pass } from '../../helpers/sockets';

const open: Listens[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

async function server(...told: Parameters<typeof listening>): Promise<Listening> {
  const one = await listening(...told);
  open.push(one);
  return one;
}

async function raw(talk: Parameters<typeof rawServer>[0]) {
  const one = await rawServer(talk);
  open.push(one);
  return one;
}

/** `GET /path` of a whole request. */
const lineOf = (request: string) => request.split(' HTTP/')[0];

const CALLS: [string[], string, string][] = [
  [['push', 'hunter2'], 'POST /api/v2/pushes', CREATED],
  [['get', 'quyul5r5w08'], 'GET /api/v2/pushes/quyul5r5w08', RETRIEVED],
];

describe('a host of this machine is found without DNS, at either of its addresses', () => {
  const hosts = ['localhost', 'pw.localhost', 'a.b.localhost.'];
  const cases = hosts.flatMap((host) => ['127.0.0.1', '::1'].map((address) => ({ host, address })));

  test.each(cases)('$host at $address', async ({ host, address }) => {
    const asked: (string | undefined)[] = [];
    const server = createHttpServer(({ headers }, response) => {
      asked.push(headers.host);
      response.setHeader('content-type', 'application/json');
      response.end(VERSION);
    });
    server.listen(0, address);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const { code, stderr } = await overSocket(['version', '--url', `http://${host}:${port}`]);
    server.close();
    expect({ code, stderr, asked }).toEqual({ code: 0, stderr: '', asked: [`${host}:${port}`] });
  });
});

test('a request arrives as it was meant, with its length and nothing added', async () => {
  let arrived: unknown;
  const { port } = await server((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      arrived = { headers: request.headers, body: Buffer.concat(chunks).toString('utf8') };
      response.writeHead(201, { 'content-type': 'application/json' }).end(CREATED);
    });
  });
  const url = `http://127.0.0.1:${port}`;
  const { code } = await overSocket(['push', 'hüñter2', '--url', url]);
  expect({ code, arrived }).toEqual({
    code: 0,
    arrived: {
      headers: {
        accept: 'application/json',
        'accept-encoding': 'identity',
        connection: 'keep-alive',
        'content-length': '32',
        'content-type': 'application/json',
        host: `127.0.0.1:${port}`,
        'idempotency-key': expect.stringMatching(/^"[\w-]{22,}"$/),
        'user-agent': 'pwpush/0.1.0',
      },
      body: '{"push":{"payload":"hüñter2"}}',
    },
  });
});

test('several pushes are expired at once, each over a connection of its own', async () => {
  const waiting: (() => void)[] = [];
  const { port, seen } = await server((request, response) => {
    const url_token = request.url?.split('/').at(-1);
    waiting.push(() => response.end(JSON.stringify({ url_token, expired: true })));
    // The first is answered when the third has come, and last.
    if (waiting.length === 3) for (const answer of waiting.reverse()) answer();
  });
  const tokens = ['one', 'two', 'three'];
  const { code, stdout } = await overSocket([
    ...['expire', ...tokens, '--json', '--url', `http://127.0.0.1:${port}`],
  ]);
  expect(code).toBe(0);
  expect(JSON.parse(stdout).map((push: { url_token: string }) => push.url_token)).toEqual(tokens);
  expect(seen).toHaveLength(3);
});

describe('nothing happened: exit 9', () => {
  test('a refused connection', async () => {
    const { port, close } = await listen(createServer());
    await close();
    const host = `127.0.0.1:${port}`;
    expect(await failingAt(`http://${host}`)).toMatchObject({
      code: 'unreachable',
      facts: [phrase('unreachable', host, phrase('connection-refused'))],
    });
  });

  test('a host name that does not resolve', async () => {
    expect((await overSocket(['version', '--url', 'https://pw.invalid'])).code).toBe(9);
  });

  test('http where https was asked for', async () => {
    const { port, seen } = await server((_request, response) => response.end());
    const host = `127.0.0.1:${port}`;
    expect(await failingAt(`https://${host}`)).toMatchObject({
      code: 'unreachable',
      facts: [phrase('unreachable', host, phrase('no-tls'))],
    });
    expect(seen).toEqual([]);
  });
});

test('a request that was aborted before it could leave was not sent', async () => {
  const { port, seen } = await server((_request, response) => response.end());
  const transport = undiciTransport({ timeout: 5, env: {}, signal: AbortSignal.abort() });
  const request = { method: 'GET', url: `http://127.0.0.1:${port}/`, headers: {} } as const;
  await expect(transport.send(request)).rejects.toMatchObject({ sent: false });
  await transport.close();
  expect(seen).toEqual([]);
});

describe('the request left and no whole answer came: exit 11, and one request only', () => {
  const conditions = { env: { PWPUSH_EDITION: 'oss' } };
  test.each<[string, Parameters<typeof rawServer>[0], FactName]>([
    ['reset', (socket) => socket.resetAndDestroy(), 'connection-reset'],
    ['closed', (socket) => socket.end(), 'connection-closed'],
    ['no HTTP', (socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'), 'no-http'],
  ])('%s without an answer', async (_how, talk, name) => {
    const { port, requests } = await raw(talk);
    const host = `127.0.0.1:${port}`;
    expect(await failingAt(`http://${host}`)).toMatchObject({
      code: 'unknown',
      facts: [phrase('incomplete', host, phrase(name))],
    });
    expect(requests.map(lineOf)).toEqual(['POST /api/v2/pushes']);
  });

  test.each(CALLS)('%j: cut in the body, of a length or chunked', async (argv, line, answer) => {
    for (const length of [{ 'content-length': answer.length }, {}]) {
      const { port, seen } = await server((_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json', ...length });
        response.write(answer.slice(0, 50), () => response.destroy());
      });
      const url = `http://127.0.0.1:${port}`;
      const { code, stdout } = await overSocket([...argv, '--url', url], conditions);
      expect({ code, stdout, seen }).toEqual({ code: 11, stdout: '', seen: [line] });
    }
  });

  test.each(CALLS)('%j: nothing within --timeout', async (argv, line) => {
    const { port, seen } = await server(() => pass(60));
    const url = `http://127.0.0.1:${port}`;
    const { code } = await overSocket([...argv, '--url', url, '--timeout', '60'], conditions);
    expect([code, seen]).toEqual([11, [line]]);
  });

  test('an answer that stops moving', async () => {
    const { port } = await server((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write(RETRIEVED.slice(0, 50), () => pass(60));
    });
    const { code, stdout } = await overSocket(['get', 'quyul5r5w08'], {
      env: { PWPUSH_URL: `http://127.0.0.1:${port}`, PWPUSH_TIMEOUT: '60' },
    });
    expect({ code, stdout }).toEqual({ code: 11, stdout: '' });
  });
});

test('a call that may be repeated is, once, on a new connection', async () => {
  const { port, requests } = await raw((socket) => {
    if (requests.length === 1) return socket.resetAndDestroy();
    const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n';
    return socket.end(`${head}content-length: ${VERSION.length}\r\n\r\n${VERSION}`);
  });
  const { code } = await overSocket(['version', '--url', `http://127.0.0.1:${port}`]);
  expect({ code, seen: requests.map(lineOf) }).toEqual({
    code: 0,
    seen: ['GET /api/v2/version', 'GET /api/v2/version'],
  });
});

describe('an answer in five pieces, within 30 s each', () => {
  /** Reads it, so many seconds after each other; answers how many came. */
  async function piecesEach(seconds: number): Promise<number> {
    let next = () => {};
    const { port } = await server((_request, response) => {
      next = () => void response.write('x');
      next();
    });
    const transport = undiciTransport({ timeout: 30, env: {} });
    onTestFinished(() => transport.close());
    const request = { method: 'GET', url: `http://127.0.0.1:${port}/`, headers: {} } as const;
    const { body } = await transport.send(request);
    let pieces = 0;
    try {
      for await (const _ of body) {
        pieces += 1;
        if (pieces === 5) break;
        pass(seconds);
        next();
      }
    } catch (error) {
      expect(error).toMatchObject({ sent: true, timedOut: true });
    }
    return pieces;
  }

  test('that is slow but moves is not cut', async () => {
    expect(await piecesEach(20)).toBe(5);
  });

  test('that comes to a stop is', async () => {
    expect(await piecesEach(30)).toBe(1);
  });
});
