import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { undiciTransport } from '../../../src/client/transport/undici';
import { phrase } from '../../../src/platform/errors';
import type { FactName } from '../../../src/platform/facts';
import { type Listens, listen, listening, rawServer, socketServer } from '../../helpers/listen';
import { CREATED, VERSION } from '../../helpers/reference';
import { failingAt, overSocket, pass } from '../../helpers/sockets';

/** What was started, until the test ends. */
async function opened<One extends Listens>(starting: Promise<One>): Promise<One> {
  const one = await starting;
  onTestFinished(() => one.close());
  return one;
}

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
  const { port } = await opened(
    listening((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        arrived = { headers: request.headers, body: Buffer.concat(chunks).toString('utf8') };
        response.writeHead(201, { 'content-type': 'application/json' }).end(CREATED);
      });
    }),
  );
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
  const { url, seen } = await opened(
    listening((request, response) => {
      const url_token = request.url?.split('/').at(-1);
      waiting.push(() => response.end(JSON.stringify({ url_token, expired: true })));
      // The first is answered when the third has come, and last.
      if (waiting.length === 3) for (const answer of waiting.reverse()) answer();
    }),
  );
  const tokens = ['one', 'two', 'three'];
  const { code, stdout } = await overSocket(['expire', ...tokens, '--json', '--url', url]);
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

  test('no TLS at the other end: nothing but its beginning is sent, and once', async () => {
    const seen: Buffer[] = [];
    const { port } = await opened(
      socketServer((socket) => {
        socket.on('data', (data) => {
          seen.push(data);
          socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
        });
      }),
    );
    const host = `127.0.0.1:${port}`;
    expect(await failingAt(`https://${host}`)).toMatchObject({
      code: 'unreachable',
      facts: [phrase('unreachable', host, phrase('no-tls'))],
    });
    expect((await overSocket(['version', '--url', `https://${host}`])).code).toBe(9);
    // A record of a handshake begins with 22 (RFC 8446, 5.1).
    expect(seen.map(([first]) => first)).toEqual([22, 22]);
  });
});

test('a request that was aborted before it could leave was not sent', async () => {
  const { port, seen } = await opened(listening((_request, response) => response.end()));
  const transport = undiciTransport({ timeout: 5, env: {}, signal: AbortSignal.abort() });
  const request = { method: 'GET', url: `http://127.0.0.1:${port}/`, headers: {} } as const;
  await expect(transport.send(request)).rejects.toMatchObject({ sent: false });
  await transport.close();
  expect(seen).toEqual([]);
});

test.each<[string, Parameters<typeof rawServer>[0], FactName]>([
  ['reset', (socket) => socket.resetAndDestroy(), 'connection-reset'],
  ['closed', (socket) => socket.end(), 'connection-closed'],
  ['no HTTP', (socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'), 'no-http'],
])('%s without an answer: what became of it is unknown', async (_how, talk, name) => {
  const { port, requests } = await opened(rawServer(talk));
  const host = `127.0.0.1:${port}`;
  expect(await failingAt(`http://${host}`)).toMatchObject({
    code: 'unknown',
    facts: [phrase('incomplete', host, phrase(name))],
  });
  expect(requests).toHaveLength(1);
});

describe('an answer in five pieces, within 30 s each', () => {
  /** Reads it, so many seconds after each other; answers how many came. */
  async function piecesEach(seconds: number): Promise<number> {
    let next = () => {};
    const { url } = await opened(
      listening((_request, response) => {
        next = () => void response.write('x');
        next();
      }),
    );
    const transport = undiciTransport({ timeout: 30, env: {} });
    onTestFinished(() => transport.close());
    const request = { method: 'GET', url, headers: {} } as const;
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
