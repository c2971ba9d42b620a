import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Log } from '../ops/log';
import { systemCode } from '../service-error';
import { commonHeaders } from './parts';

/** What is said of requests that never reach the application, by status. */
const words = {
  400: 'The request is malformed.',
  408: 'The request took too long to arrive.',
  413: 'The request is too large.',
  417: 'That expectation cannot be met.',
  421: 'This service does not answer to that host. Its operator can name it with --public-url.',
  431: 'The headers of the request are too large.',
};
type Status = keyof typeof words;

const statusOf: Readonly<Record<string, Status>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  HPE_HEADER_OVERFLOW: 431,
};

/**
 * Answers and logs what never reaches the application, to which Node and Hono would say nothing but a status. Answers
 * what is to be said of a request without a valid address; that is asked for in the round in which the request came.
 */
export function answerUnserved(
  server: Server,
  log: Log,
  now: () => Date,
): (status: 400 | 421) => Response {
  const latest = new WeakMap<Socket, ServerResponse>();
  const ending = new WeakSet<Socket>();
  let method = '-';

  function answer(status: Status) {
    const body = JSON.stringify({ error: words[status] });
    log.request({ began: now(), method, route: '-', status, took: 0, bytes: body.length });
    const type = 'application/json; charset=utf-8';
    return {
      body,
      headers: { ...commonHeaders, 'content-type': type, 'content-length': `${body.length}` },
    };
  }

  /** What came is no HTTP, or did not come whole; a socket that merely broke is owed nothing. */
  function broken(error: Error, socket: Socket): void {
    // All that is still read of it is broken again.
    if (ending.has(socket)) return;
    ending.add(socket);
    const code = systemCode(error);
    const response = latest.get(socket);
    const begun = response?.headersSent && !response.writableFinished;
    if ((code.startsWith('HPE_') || code in statusOf) && socket.writable && !begun) {
      const status = statusOf[code] ?? 400;
      method = '-';
      const { body, headers } = answer(status);
      const fields = Object.entries({ ...headers, connection: 'close' });
      const head = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('');
      socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head}\r\n${body}`);
    }
    socket.destroySoon();
  }

  server.on('request', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    method = incoming.method ?? '-';
    latest.set(incoming.socket, outgoing);
  });
  server.on('checkExpectation', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    method = incoming.method ?? '-';
    const { body, headers } = answer(417);
    outgoing.writeHead(417, { ...headers, connection: 'close' }).end(body);
  });
  server.on('clientError', broken);
  return (status) => {
    const { body, headers } = answer(status);
    return new Response(body, { status, headers });
  };
}
