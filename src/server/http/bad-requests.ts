import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { hasLongHost, urlHost } from '../../contract/address';
import { commonHeaders } from '../common-headers';
import type { Log } from '../ops/log';
import { systemCode } from '../service-errors';

const messages = {
  400: 'The request is malformed.',
  408: 'The request took too long to arrive.',
  413: 'The request is too large.',
  417: 'That expectation cannot be met.',
  421: 'This service does not serve that host. Its operator can set it with --public-url.',
  431: 'The headers of the request are too large.',
};
type Status = keyof typeof messages;

const statusOf: Readonly<Record<string, Status>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  HPE_HEADER_OVERFLOW: 431,
};

/**
 * Refuses and logs requests that never reach the app, to which Node.js and Hono would respond with a bare status.
 * Returns the function that makes the response to an invalid target. Call it synchronously in the `request` event,
 * which stores the method to log.
 */
export function refuseBadRequests(
  server: Server,
  log: Log,
  now: () => Date,
): (status: 400 | 421) => Response {
  const latest = new WeakMap<Socket, ServerResponse>();
  const ending = new WeakSet<Socket>();
  let method = '-';

  function refusal(status: Status) {
    const body = JSON.stringify({ error: messages[status] });
    log.request({ began: now(), method, route: '-', status, tookMs: 0, bytes: body.length });
    const type = 'application/json; charset=utf-8';
    return {
      body,
      headers: { ...commonHeaders, 'content-type': type, 'content-length': `${body.length}` },
    };
  }

  /** Refuses input that is not HTTP, or incomplete. A socket that merely broke gets no response. */
  function clientError(error: Error, socket: Socket): void {
    // Each further read from this socket emits the error again.
    if (ending.has(socket)) return;
    ending.add(socket);
    const code = systemCode(error);
    const response = latest.get(socket);
    const begun = response?.headersSent && !response.writableFinished;
    if ((code.startsWith('HPE_') || code in statusOf) && socket.writable && !begun) {
      const status = statusOf[code] ?? 400;
      method = '-';
      const { body, headers } = refusal(status);
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
    const { body, headers } = refusal(417);
    outgoing.writeHead(417, { ...headers, connection: 'close' }).end(body);
  });
  server.on('clientError', clientError);
  return (status) => {
    const { body, headers } = refusal(status);
    return new Response(body, { status, headers });
  };
}

/**
 * Sets the Host header of an HTTP/1.0 request, as some health checks send it, to the local address. Clears, so that the
 * request is refused, an overlong host before it is parsed, and a repeated Host header (RFC 9112, 3.2): a proxy may
 * have checked another one than Node.js uses.
 */
export function setMissingHost(incoming: IncomingMessage): void {
  const { headers, headersDistinct, httpVersion, socket, url = '' } = incoming;
  const isLong = hasLongHost(url) || hasLongHost(`http://${headers.host}`);
  if (isLong) incoming.url = '';
  if (isLong || (headersDistinct.host?.length ?? 0) > 1) headers.host = '';
  const { localAddress, localPort } = socket;
  if (httpVersion !== '1.0' || headers.host !== undefined) return;
  const address = localAddress?.replace(/^::ffff:(?=[\d.]+$)/i, '');
  headers.host = address === undefined ? 'localhost' : `${urlHost(address)}:${localPort}`;
}

/** Matches escaped unreserved characters (RFC 3986, 2.3), dot segments, and a fragment. */
const rewritten = /%(?:2[de]|3\d|[46][1-9a-f]|[57][\da]|5f|7e)|\/\.{1,2}(?:\/|$)|#/i;

/**
 * Whether the path of a request is in normal form. Any other path would be normalized before it is routed, and so
 * bypass a proxy that restricts paths without normalizing them.
 */
export function isNormal(target = ''): boolean {
  const [path = ''] = target.replace(/^https?:\/\/[^/?]*/i, '').split('?');
  return !rewritten.test(path);
}
