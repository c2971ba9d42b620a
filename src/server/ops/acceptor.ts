import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions, Server as TlsServer } from 'node:tls';

/**
 * Returns a server that listens for an HTTP server, and closes with it. Bun's HTTP servers are not servers of
 * `node:net`: they cannot listen on a descriptor or replace their certificate, and cut clients that read slowly. They
 * serve connections that others accept, but without timeouts and backpressure.
 * @param tls the options of a server that speaks TLS
 */
export function acceptorFor(http: HttpServer, tls: TlsOptions | undefined): Server {
  const options = { allowHalfOpen: true, noDelay: true };
  const server = tls ? createTlsServer({ ...options, ...tls }) : createServer(options);
  passConnections(server, http);
  const ownAddress = server.address.bind(server);
  server.address = () => {
    const address = ownAddress();
    // Bun's is an empty object for a Unix domain socket.
    return typeof address === 'object' && address?.address === undefined ? null : address;
  };
  http.address = server.address;
  http.close = (done) => {
    server.close((error) => {
      http.emit('close');
      done?.(error);
    });
    return http;
  };
  if (server instanceof TlsServer)
    Object.assign(http, { setSecureContext: server.setSecureContext.bind(server) });
  return server;
}

/** Hands each connection to the HTTP server, with its timeouts, and pauses it while nobody reads a request's body. */
function passConnections(server: Server, http: HttpServer): void {
  /** The latest response of each connection. */
  const latest = new WeakMap<Socket, ServerResponse>();
  /** A timer for each connection without a complete head of a request. */
  const heads = new WeakMap<Socket, NodeJS.Timeout>();

  const awaitHead = (socket: Socket) => {
    const late = () => {
      const error = Object.assign(new Error('timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
      if (!http.emit('clientError', error, socket)) socket.destroy();
    };
    heads.set(socket, setTimeout(late, http.headersTimeout));
  };
  const stopAwaiting = (socket: Socket) => {
    clearTimeout(heads.get(socket));
    heads.delete(socket);
  };
  http.prependListener('request', ({ socket }: IncomingMessage, outgoing: ServerResponse) => {
    stopAwaiting(socket);
    latest.set(socket, outgoing);
    socket.setTimeout(http.timeout);
    outgoing.once('finish', () => {
      socket.setTimeout(http.keepAliveTimeout);
      awaitHead(socket);
    });
  });

  // With TLS, before the handshake.
  server.on('connection', (socket: Socket) => {
    socket.setTimeout(http.timeout);
    socket.on('timeout', () => http.emit('timeout', socket) || socket.destroy());
    socket.once('close', () => stopAwaiting(socket));
    awaitHead(socket);
    http.emit('connection', socket);
    // After the listener that parses the data.
    socket.on('data', () => {
      const { req } = latest.get(socket) ?? {};
      if (heads.has(socket)) socket.setTimeout(http.timeout);
      // Until the request is read.
      else if (req && !req.complete && req.readableLength >= req.readableHighWaterMark)
        socket.pause();
    });
  });
  server.on('secureConnection', (socket: Socket) => http.emit('secureConnection', socket));
  server.on('tlsClientError', (error: Error, socket: Socket) =>
    http.emit('clientError', error, socket),
  );
}
