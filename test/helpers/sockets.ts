import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createHttpsServer, type ServerOptions } from 'node:https';
import { connect, createServer as createTcpServer, type Socket } from 'node:net';
import { undiciTransport } from '../../src/client/transport/undici';
import { type Listens, listen } from './listen';
import { type Conditions, type Outcome, place } from './run';

export interface Listening extends Listens {
  /** `GET /path` of each request that arrived. */
  readonly seen: string[];
}

/** An HTTP server on a free port of loopback. */
export async function listening(answer: RequestListener, tls?: ServerOptions): Promise<Listening> {
  const seen: string[] = [];
  const listener: RequestListener = (request, response) => {
    seen.push(`${request.method} ${request.url}`);
    answer(request, response);
  };
  const server = tls ? createHttpsServer(tls, listener) : createServer(listener);
  return { seen, ...(await listen(server)) };
}

/** A TCP server that does with each connection what it is told. */
export async function socketServer(talk: (socket: Socket) => void): Promise<Listening> {
  const seen: string[] = [];
  const server = createTcpServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (data) => seen.push(String(data).split(' HTTP/')[0] ?? ''));
    talk(socket);
  });
  return { seen, ...(await listen(server)) };
}

interface Proxy extends Listening {
  /** `Proxy-Authorization` of each request. */
  readonly headers: string[];
  /** `Authorization` of each request. */
  readonly tokens: (string | undefined)[];
}

/** A proxy: forwards plain requests, and tunnels by CONNECT; whatever is asked for, it goes to `port`. */
export async function proxying(port: number): Promise<Proxy> {
  const headers: string[] = [];
  const tokens: (string | undefined)[] = [];
  const seen: string[] = [];
  const note = (request: IncomingMessage) => {
    seen.push(`${request.method} ${request.url}`);
    headers.push(request.headers['proxy-authorization'] ?? '');
    tokens.push(request.headers.authorization);
  };
  const server = createServer((request, response) => {
    note(request);
    response.setHeader('content-type', 'application/json');
    response.end('{"edition":"by proxy"}');
  });
  server.on('connect', (request: IncomingMessage, client: Socket, head: Buffer) => {
    note(request);
    const upstream = connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      upstream.write(head);
      upstream.pipe(client).pipe(upstream);
    });
    for (const socket of [client, upstream]) socket.on('error', () => {});
  });
  return { seen, headers, tokens, ...(await listen(server)) };
}

/** Runs one command line with the real transport. */
export async function overSocket(argv: string[], conditions: Conditions = {}): Promise<Outcome> {
  const here = place({ ...conditions, transport: undiciTransport });
  try {
    return await here.run(...argv);
  } finally {
    here.close();
  }
}
