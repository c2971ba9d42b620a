import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { undiciTransport } from '../../../src/client/transport/undici';
import { CREATED, RETRIEVED, VERSION } from '../../helpers/reference';
import { type Listening, listening, overSocket, socketServer } from '../../helpers/sockets';

const open: Listening[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

async function server(...told: Parameters<typeof listening>): Promise<Listening> {
  const one = await listening(...told);
  open.push(one);
  return one;
}

async function sockets(talk: Parameters<typeof socketServer>[0]): Promise<Listening> {
  const one = await socketServer(talk);
  open.push(one);
  return one;
}

const CALLS: [string[], string, string, string][] = [
  [
    ['push', 'hunter2'],
    'POST /api/v2/pushes',
    CREATED,
    'a push may exist; without a token it cannot be looked up, and expires by its limits',
  ],
  [
    ['get', 'quyul5r5w08'],
    'GET /api/v2/pushes/quyul5r5w08',
    RETRIEVED,
    'a view may have been used: the owner can check with pwpush audit',
  ],
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
    const closed = createServer().listen(0, '127.0.0.1');
    const { port } = await new Promise<{ port: number }>((resolve) => {
      closed.once('listening', () => resolve(closed.address() as { port: number }));
    });
    await new Promise((resolve) => closed.close(resolve));
    expect(await overSocket(['push', 'hunter2', '--url', `http://127.0.0.1:${port}`])).toEqual({
      code: 9,
      stdout: '',
      stderr:
        `pwpush: 127.0.0.1:${port} cannot be reached: the connection was refused\n` +
        'hint: check that the instance is running, and the port\n',
    });
  });

  test('a host name that does not resolve', async () => {
    const { code, stderr } = await overSocket(['version', '--url', 'https://pw.invalid']);
    expect({ code, stderr: stderr.split(':').slice(0, 2).join(':') }).toEqual({
      code: 9,
      stderr: 'pwpush: pw.invalid cannot be reached',
    });
  });

  test('http where https was asked for', async () => {
    const { port, seen } = await server((_request, response) => response.end());
    const { code, stderr } = await overSocket(['get', `https://127.0.0.1:${port}/p/quyul5r5w08`]);
    expect({ code, stderr, seen }).toEqual({
      code: 9,
      stderr:
        `pwpush: 127.0.0.1:${port} cannot be reached: it does not use TLS on this port\n` +
        'hint: check the port, and whether the address begins with http\n',
      seen: [],
    });
  });
});

test('pieces of a large body stay as they were, and grow', async () => {
  const sent = randomBytes(8 * 1024 * 1024);
  const { port } = await server((_request, response) => response.end(sent));
  const transport = undiciTransport({ timeout: 5, env: {} });
  const request = { method: 'GET', url: `http://127.0.0.1:${port}/`, headers: {} } as const;
  const pieces: Uint8Array[] = [];
  for await (const piece of (await transport.send(request)).body) pieces.push(piece);
  await transport.close();
  expect(Buffer.concat(pieces).equals(sent)).toBe(true);
  expect(Math.max(...pieces.map(({ length }) => length))).toBeGreaterThan(64 * 1024);
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
  test.each(CALLS)('%j: reset before the answer', async (argv, line, _answer, hint) => {
    const { port, seen } = await sockets((socket) => {
      socket.once('data', () => socket.resetAndDestroy());
    });
    expect(await overSocket([...argv, '--url', `http://127.0.0.1:${port}`])).toEqual({
      code: 11,
      stdout: '',
      stderr: `pwpush: 127.0.0.1:${port} sent no complete response: the connection was reset\nhint: ${hint}\n`,
    });
    expect(seen).toEqual([line]);
  });

  test.each(CALLS)('%j: closed without an answer', async (argv, line, _answer, hint) => {
    const { port, seen } = await sockets((socket) => {
      socket.once('data', () => socket.end());
    });
    expect(await overSocket([...argv, '--url', `http://127.0.0.1:${port}`])).toEqual({
      code: 11,
      stdout: '',
      stderr: `pwpush: 127.0.0.1:${port} sent no complete response: the connection was closed\nhint: ${hint}\n`,
    });
    expect(seen).toEqual([line]);
  });

  test.each(CALLS)('%j: cut in the body', async (argv, line, answer, hint) => {
    const { port, seen } = await server((_request, response) => {
      const length = { 'content-type': 'application/json', 'content-length': answer.length };
      response.writeHead(200, length).write(answer.slice(0, 50), () => response.destroy());
    });
    const { code, stdout, stderr } = await overSocket([
      ...argv,
      '--url',
      `http://127.0.0.1:${port}`,
    ]);
    expect({ code, stdout, hint: stderr.split('\n')[1], seen }).toEqual({
      code: 11,
      stdout: '',
      hint: `hint: ${hint}`,
      seen: [line],
    });
  });

  test.each(CALLS)('%j: cut in the chunked body', async (argv, line, answer) => {
    const { port, seen } = await server((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write(answer.slice(0, 50), () => response.destroy());
    });
    const { code } = await overSocket([...argv, '--url', `http://127.0.0.1:${port}`]);
    expect({ code, seen }).toEqual({ code: 11, seen: [line] });
  });

  test.each(CALLS)('%j: nothing within --timeout', async (argv, line, _answer, hint) => {
    const { port, seen } = await server(() => {});
    const url = `http://127.0.0.1:${port}`;
    expect(await overSocket([...argv, '--url', url, '--timeout', '1'])).toEqual({
      code: 11,
      stdout: '',
      stderr: `pwpush: 127.0.0.1:${port} did not respond within 1 s\nhint: ${hint}\n`,
    });
    expect(seen).toEqual([line]);
  });

  test('an answer that stops moving', async () => {
    const { port } = await server((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).write(RETRIEVED.slice(0, 50));
    });
    const { code, stdout } = await overSocket(['get', 'quyul5r5w08'], {
      env: { PWPUSH_URL: `http://127.0.0.1:${port}`, PWPUSH_TIMEOUT: '0.2' },
    });
    expect({ code, stdout }).toEqual({ code: 11, stdout: '' });
  });
});

test('a call that may be repeated is, once, on a new connection', async () => {
  let times = 0;
  const { port, seen } = await sockets((socket) => {
    socket.once('data', () => {
      times += 1;
      if (times === 1) return socket.resetAndDestroy();
      const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n';
      return socket.end(`${head}content-length: ${VERSION.length}\r\n\r\n${VERSION}`);
    });
  });
  const { code } = await overSocket(['version', '--url', `http://127.0.0.1:${port}`]);
  expect({ code, seen }).toEqual({
    code: 0,
    seen: ['GET /api/v2/version', 'GET /api/v2/version'],
  });
});

test('an answer that is slow but moves is not cut', async () => {
  const { port } = await server((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const pieces = VERSION.match(/.{1,4}/g) ?? [];
    const next = () => {
      const piece = pieces.shift();
      if (piece === undefined) return void response.end();
      response.write(piece);
      setTimeout(next, 20);
    };
    next();
  });
  const argv = ['version', '--json', '--url', `http://127.0.0.1:${port}`, '--timeout', '1'];
  const { code } = await overSocket(argv);
  expect(code).toBe(0);
});

test('what does not speak HTTP is said to be so', async () => {
  const { port } = await sockets((socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'));
  const { code, stderr } = await overSocket(['get', 'abc', '--url', `http://127.0.0.1:${port}`]);
  expect({ code, stderr: stderr.split('\n')[0] }).toEqual({
    code: 11,
    stderr: `pwpush: 127.0.0.1:${port} sent no complete response: it does not speak HTTP`,
  });
});
