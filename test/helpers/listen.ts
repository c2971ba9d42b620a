import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { createServer as createHttpsServer, type ServerOptions } from 'node:https';
import { type AddressInfo, connect, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { TestRunner } from 'vitest';

export interface Listens {
  readonly port: number;
  readonly url: string;
  onConnection(listener: () => void): void;
  dropAll(): void;
  /** The same, and resolves once the server has ended, also when it had ended before. */
  close(): Promise<void>;
}

/** Has a server listen on a free port of loopback, until it is closed or the test has ended that opened it. */
export async function listen(server: Server): Promise<Listens> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const dropAll = () => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  let closed: Promise<unknown> | undefined;
  const close = async () => {
    dropAll();
    closed ??= once(server.close(), 'close');
    await closed;
  };
  // None runs where one is opened for all tests of a file.
  TestRunner.getCurrentTest()?.context.onTestFinished(close);
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    dropAll,
    onConnection: (listener) => void server.on('connection', listener),
    close,
  };
}

export interface Listening extends Listens {
  readonly seen: string[];
  readonly headers: IncomingHttpHeaders[];
}

export async function listening(answer: RequestListener, tls?: ServerOptions): Promise<Listening> {
  const seen: string[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const listener: RequestListener = (request, response) => {
    seen.push(`${request.method} ${request.url}`);
    headers.push(request.headers);
    answer(request, response);
  };
  const server = tls ? createHttpsServer(tls, listener) : createServer(listener);
  return { seen, headers, ...(await listen(server)) };
}

export function socketServer(talk: (socket: Socket) => void): Promise<Listens> {
  const server = createTcpServer((socket) => {
    socket.on('error', () => {});
    talk(socket);
  });
  return listen(server);
}

/** An HTTP server that may break the rules of HTTP: `talk` gets each request, from its head on, and its connection. */
export async function rawServer(talk: (socket: Socket, request: string) => unknown) {
  const requests: string[] = [];
  const listens = await socketServer((socket) => {
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (!text.includes('\r\n\r\n')) return;
      requests.push(text);
      talk(socket, text);
      text = '';
    });
  });
  return { requests, ...listens };
}

export function answerJson(socket: Socket, body: string, status = '200 OK'): void {
  const length = Buffer.byteLength(body);
  const head = `content-type: application/json\r\ncontent-length: ${length}`;
  socket.write(`HTTP/1.1 ${status}\r\n${head}\r\n\r\n${body}`);
}

/** Connects a client to a port of this machine: when one of both sockets ends, so does the other. */
export function relay(client: Socket, port: number): Socket {
  const upstream = connect(port, '127.0.0.1');
  const pair = [client, upstream];
  for (const socket of pair) socket.on('error', () => {}).on('close', () => pair.forEach((one) => void one.destroy()));
  return upstream;
}

export type Spoken = ReturnType<typeof speak>;

export function speak(port: number, ...said: (string | Uint8Array)[]) {
  const socket = connect(port, '127.0.0.1');
  for (const piece of said) socket.write(piece);
  let text = '';
  socket.setEncoding('utf8').on('data', (more) => {
    text += more;
  });
  socket.on('error', () => {});
  const ended = new Promise<string>((resolve) => socket.on('close', () => resolve(text)));
  return {
    socket,
    text: () => text,
    ended,
  };
}
