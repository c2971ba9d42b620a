import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { hostOptions } from '../../../src/client/transport/connect-options';
import { undiciTransport } from '../../../src/client/transport/undici';
import { phrase } from '../../../src/platform/errors';
import type { FactName } from '../../../src/words/facts';
import { deferred } from '../../helpers/deferred';
import { listen, listening, rawServer, socketServer } from '../../helpers/listen';
import { CREATED, VERSION } from '../../helpers/reference';
import { failingAt, overSocket, pass } from '../../helpers/sockets';
import { cert, key } from '../../server/certificate';
import { recordingServer } from './recording-server';

const hosts = ['localhost', 'pw.localhost', 'a.b.localhost.'];
const places = hosts.flatMap((host) => ['127.0.0.1', '::1'].map((address) => ({ host, address })));
test.each(places)('a host of this machine needs no DNS: $host at $address', async ({ host, address }) => {
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

test('the names of this machine, and no others, are found without the system', () => {
  const found = [...hosts, 'pw.test', 'localhost.test'].map((hostname) => 'lookup' in hostOptions({ hostname }));
  expect(found).toEqual([...hosts.map(() => true), false, false]);
});

test.each(['pw.test', 'localhost'])(
  'each address of %s has two seconds, by the options that all connections are made with',
  (hostname) => {
    const options = { autoSelectFamily: true, autoSelectFamilyAttemptTimeout: 2000 };
    expect(hostOptions({ hostname })).toMatchObject(options);
  },
);

test('a request arrives as it was meant, with its length and nothing added', async () => {
  const { url, got } = await recordingServer((_request, response) => {
    response.writeHead(201, { 'content-type': 'application/json' }).end(CREATED);
  });
  expect((await overSocket(['push', 'hüñter2', '--url', url])).code).toBe(0);
  const [{ headers, body } = {}] = got;
  expect({ headers, body }).toEqual({
    headers: {
      accept: 'application/json',
      'accept-encoding': 'identity',
      connection: 'keep-alive',
      'content-length': '32',
      'content-type': 'application/json',
      host: url.slice('http://'.length),
      'idempotency-key': expect.stringMatching(/^"[\w-]{22,}"$/),
      'user-agent': 'pwpush/0.1.0',
    },
    body: '{"push":{"payload":"hüñter2"}}',
  });
});

// undici counts names and values, and the limit itself is too much.
test.each([
  ['in one', 256 * 1024 - 1, 0, 1],
  ['in fifty', 256 * 1024 - 1, 0, 50],
  ['in one', 256 * 1024, 11, 1],
  ['in fifty', 256 * 1024, 11, 50],
])('headers of a response, %s, of %i bytes together: exit %i', async (_, bytes, exit, count) => {
  const { url } = await rawServer((socket) => {
    const head = { 'content-type': 'application/json', 'content-length': `${Buffer.byteLength(VERSION)}` };
    const names = Array.from({ length: count }, (_, at) => `x-${at}`);
    const left = bytes - Object.entries(head).flat().concat(names).join('').length;
    const values = names.map((_, at) => 'x'.repeat(Math.floor(left / count) + (at === 0 ? left % count : 0)));
    const fields = [...Object.entries(head), ...names.map((name, at) => [name, values[at]])];
    const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`HTTP/1.1 200 OK\r\n${lines.join('')}\r\n${VERSION}`);
  });
  expect((await overSocket(['version', '--url', url])).code).toBe(exit);
});

describe('nothing happened: exit 9', () => {
  const unreachable = async (origin: string, name: FactName) => {
    const host = new URL(origin).host;
    const facts = [phrase('unreachable', host, phrase(name))];
    expect(await failingAt(origin)).toMatchObject({ code: 'unreachable', facts });
  };

  test('a refused connection', async () => {
    const { url, close } = await listen(createServer());
    await close();
    await unreachable(url, 'connection-refused');
  });

  test('a host name that does not resolve', async () => {
    expect((await overSocket(['version', '--url', 'https://pw.invalid'])).code).toBe(9);
  });

  test('no TLS at the other end: nothing but its beginning is sent, and once', async () => {
    const seen: Buffer[] = [];
    const { port } = await socketServer((socket) => {
      socket.on('data', (data) => {
        seen.push(data);
        socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
      });
    });
    const origin = `https://127.0.0.1:${port}`;
    await unreachable(origin, 'no-tls');
    expect((await overSocket(['version', '--url', origin])).code).toBe(9);
    // A record of a handshake begins with 22 (RFC 8446, 5.1).
    expect(seen.map(([first]) => first)).toEqual([22, 22]);
  });

  const refusal = (text: string) => `HTTP/1.1 400 Bad Request\r\n\r\n${text}`;
  test.each([
    ['OpenSSL', '\x15\x03\x01\0\x02\x02F'],
    ['nginx', refusal('<html><title>400 The plain HTTP request was sent to HTTPS port</title>')],
    ['Go', refusal('Client sent an HTTP request to an HTTPS server.\n')],
    ['Apache', refusal("<p>Reason: You're speaking plain HTTP to an SSL-enabled server port.<br>")],
    ['Tomcat', refusal('Bad Request\r\nThis combination of host and port requires TLS.\r\n')],
  ])('an http address at a port with TLS of %s', async (_, answer) => {
    const { port } = await socketServer((socket) => {
      socket.on('data', () => socket.end(answer, 'latin1'));
    });
    const origin = `http://127.0.0.1:${port}`;
    const { code, stderr } = await overSocket(['push', 'text', '--url', origin]);
    expect(code).toBe(9);
    expect(stderr).toContain(': it uses TLS on this port\n');
    expect(stderr).toContain(`hint: use https://127.0.0.1:${port}\n`);
  });
});

test.each([
  ['', true],
  ['HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{', false],
])('a port that closes may be one with TLS, unless it responded: %j', async (begun, isHinted) => {
  const { port } = await socketServer((socket) => {
    socket.on('data', () => socket.end(begun));
  });
  const { stderr } = await overSocket(['version', '--url', `http://127.0.0.1:${port}`]);
  expect(stderr).toContain('the connection was closed');
  expect(stderr.includes('if the instance uses TLS on this port')).toBe(isHinted);
});

test('a request that was aborted before it could leave was not sent', async () => {
  const { url, seen } = await listening((_request, response) => response.end());
  const transport = undiciTransport({ timeout: 5, env: {}, signal: AbortSignal.abort() });
  const request = { method: 'GET', url, headers: {} } as const;
  await expect(transport.send(request)).rejects.toMatchObject({ sent: false });
  await transport.close();
  expect(seen).toEqual([]);
});

test('it is told when a connection is ready, which is before a request leaves and after the handshake', async () => {
  const order: string[] = [];
  const { port } = await listening(
    (_request, response) => {
      order.push('asked');
      response.end();
    },
    { key, cert },
  );
  const url = `https://localhost:${port}`;
  const connected = () => void order.push('connected');
  const transport = undiciTransport({ timeout: 5, env: {}, ca: cert, connected });
  onTestFinished(() => transport.close());
  await transport.send({ method: 'GET', url, headers: {} });
  expect(order).toEqual(['connected', 'asked']);
  const refused = undiciTransport({ timeout: 5, env: { SSL_CERT_FILE: '/dev/null' }, connected });
  await expect(refused.send({ method: 'GET', url, headers: {} })).rejects.toMatchObject({ sent: false });
  expect(order).toEqual(['connected', 'asked']);
});

test('a response that comes within the grace ends the wait for it', async () => {
  const { promise: arrived, resolve: arrive } = deferred<() => void>();
  const { url } = await listening((_request, response) => arrive(() => response.end('x')));
  const end = new AbortController();
  const transport = undiciTransport({ timeout: 30, env: {}, signal: end.signal, grace: 60_000 });
  onTestFinished(() => transport.close());
  const request = { method: 'POST', url, headers: {}, body: 'x', effect: true } as const;
  const sending = transport.send(request);
  const answer = await arrived;
  end.abort();
  answer();
  for await (const piece of (await sending).body) expect(`${piece}`).toBe('x');
});

const cutAfter = (begun: string) => (socket: Socket) =>
  socket.end(`HTTP/1.1 201 Created\r\ncontent-type: application/json\r\n${begun}`);

test.each<[string, Parameters<typeof rawServer>[0], FactName]>([
  ['reset', (socket) => socket.resetAndDestroy(), 'connection-reset'],
  ['closed', (socket) => socket.end(), 'connection-closed'],
  ['no HTTP', (socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'), 'no-http'],
  ['cut in its body,', cutAfter('content-length: 9\r\n\r\n{"'), 'connection-closed'],
  ['cut in chunks,', cutAfter('transfer-encoding: chunked\r\n\r\n2\r\n{"\r\n'), 'connection-closed'],
])('%s without an answer: what became of it is unknown', async (_how, talk, name) => {
  const { url, port, requests } = await rawServer(talk);
  const facts = [phrase('incomplete', `127.0.0.1:${port}`, phrase(name))];
  expect(await failingAt(url)).toMatchObject({ code: 'unknown', facts });
  expect(requests).toHaveLength(1);
});

test.each([
  ['that is slow but moves is not cut', 20, 5],
  ['that comes to a stop is', 30, 1],
])('an answer in five pieces, within 30 s each, %s', async (_, seconds, arrive) => {
  let next = () => {};
  const { url } = await listening((_request, response) => {
    next = () => void response.write('x');
    next();
  });
  const transport = undiciTransport({ timeout: 30, env: {} });
  onTestFinished(() => transport.close());
  const { body } = await transport.send({ method: 'GET', url, headers: {} });
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
  expect(pieces).toBe(arrive);
});
