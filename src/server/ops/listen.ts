import { createSocket } from 'node:dgram';
import {
  createServer as createHttpServer,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { createServer, Server, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { createServer as createTlsServer, type TlsOptions, Server as TlsServer } from 'node:tls';
import { isLoopback, urlHost } from '../../contract/address';
import { ServiceError, systemCode } from '../service-errors';

/** An address, or a socket that is listening already. */
export type ListenTarget =
  | { readonly host: string; readonly port: number }
  | { readonly fd: number };

export interface Listening {
  /** The address that the server listens on; undefined for a Unix domain socket. */
  readonly host: string | undefined;
  /** The URL by which this machine reaches the server; `fd:3` for a Unix domain socket, whose path is unknown. */
  readonly url: string;
}

/**
 * @param tls the options of a server that speaks TLS
 * @param option the option that sets the port, for the hint
 * @throws ServiceError when the server cannot listen on the target
 */
export function listen(
  http: HttpServer,
  target: ListenTarget,
  tls: TlsOptions | undefined,
  option = '--port',
): Promise<Listening> {
  const server = http instanceof Server ? http : acceptorFor(http, tls);
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => {
      // The error shows that the system has no IPv6.
      const only4 =
        'host' in target && target.host === '::' && systemCode(error) === 'EAFNOSUPPORT';
      if (only4) listen(http, { ...target, host: '0.0.0.0' }, tls, option).then(resolve, reject);
      else reject(listenError(error, target, option));
    };
    server.once('error', fail);
    const listening = () => {
      const address = server.address();
      if (address === null || typeof address === 'string')
        return resolve({ host: undefined, url: 'fd' in target ? `fd:${target.fd}` : '' });
      const host = 'host' in target ? target.host : address.address;
      resolve({ host, url: `http${tls ? 's' : ''}://${urlHost(host)}:${address.port}` });
    };
    try {
      server.listen(target, listening);
    } catch (error) {
      // `server.listen` throws when the descriptor is not a socket.
      fail(error as Error);
    }
  });
}

/** @throws ServiceError as `listen` does */
export async function tryListening(host: string, port: number): Promise<void> {
  const server = createHttpServer();
  await listen(server, { host, port }, undefined);
  await new Promise((resolve) => server.close(resolve));
}

function listenError(cause: Error, target: ListenTarget, option: string): ServiceError {
  const code = systemCode(cause);
  if ('fd' in target) {
    const what = `descriptor ${target.fd}, as passed by LISTEN_FDS, is not a socket to listen on`;
    return new ServiceError(`${what}${code && ` (${code})`}`, { cause });
  }
  const { host, port } = target;
  if (code === 'EADDRNOTAVAIL')
    return new ServiceError(`${host} is not an address of this machine`, {
      hint: 'use 0.0.0.0 for all of them',
      cause,
    });
  const where = port === 0 ? host : `${host} port ${port}`;
  if (code === 'EADDRINUSE')
    return new ServiceError(`${where} is in use`, { hint: `choose another with ${option}`, cause });
  return new ServiceError(`cannot listen on ${where}${code && ` (${code})`}`, { cause });
}

/** Addresses reserved for documentation (RFC 5737, RFC 3849): packets to them take the default route. */
const documentation = { IPv4: '192.0.2.1', IPv6: '2001:db8::1' } as const;
type IpFamily = keyof typeof documentation;

/**
 * Returns the URL by which other machines reach a server that listens on `host`. A server on all addresses is reached,
 * preferably by IPv4, at the source address of the default route, or else at the first one that is neither loopback nor
 * link-local.
 * @param url the URL by which this machine reaches the server
 * @returns undefined when this machine has no such address
 */
export async function outwardUrl(
  url: string,
  host: string | undefined,
): Promise<string | undefined> {
  if (host !== '0.0.0.0' && host !== '::') return url;
  const families: IpFamily[] = host === '::' ? ['IPv4', 'IPv6'] : ['IPv4'];
  for (const family of families) {
    const address = (await defaultRoute(family)) ?? firstAddress(family);
    if (address === undefined) continue;
    const { protocol, port } = new URL(url);
    return `${protocol}//${urlHost(address)}:${port}`;
  }
  return undefined;
}

/** Returns the source address of the default route. Connecting a UDP socket sends nothing. */
function defaultRoute(family: IpFamily): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = createSocket(family === 'IPv4' ? 'udp4' : 'udp6');
    const done = (address?: string) => {
      socket.close();
      resolve(address !== undefined && isOutward(address) ? address : undefined);
    };
    socket.once('error', () => done());
    socket.connect(9, documentation[family], (error?: Error) =>
      done(error ? undefined : socket.address().address),
    );
  });
}

function firstAddress(family: IpFamily): string | undefined {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.find((own) => own.family === family && !own.internal && isOutward(own.address))
    ?.address;
}

/** Whether other machines can reach an address. Link-local ones are excluded, as they need a zone. */
function isOutward(address: string): boolean {
  return !isLoopback(address) && !/^(?:169\.254\.|0\.|::$|fe[89ab])/i.test(address);
}

/**
 * Returns a server that listens for an HTTP server, and closes with it. Bun's HTTP servers are not servers of
 * `node:net`: they cannot listen on a descriptor or replace their certificate, and cut clients that read slowly. They
 * can serve connections that another server accepts, but without timeouts and back-pressure.
 * @param tls the options of a server that speaks TLS
 */
function acceptorFor(http: HttpServer, tls: TlsOptions | undefined): Server {
  const options = { allowHalfOpen: true, noDelay: true };
  const server = tls ? createTlsServer({ ...options, ...tls }) : createServer(options);
  passConnections(server, http);
  const ownAddress = server.address.bind(server);
  server.address = () => {
    const address = ownAddress();
    // For a Unix domain socket, Bun returns an empty object.
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

/** Hands each connection to the HTTP server, enforces its timeouts, and pauses reading while nobody reads the body. */
function passConnections(server: Server, http: HttpServer): void {
  /** The latest response of each connection. */
  const latest = new WeakMap<Socket, ServerResponse>();
  /** A timer for each connection without a complete head of a request. */
  const heads = new WeakMap<Socket, NodeJS.Timeout>();
  /** Connections on which nothing has arrived since the last response. */
  const idle = new WeakSet<Socket>();

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
    idle.delete(socket);
    latest.set(socket, outgoing);
    socket.setTimeout(http.timeout);
    outgoing.once('finish', () => {
      socket.setTimeout(http.keepAliveTimeout);
      idle.add(socket);
    });
  });

  // With TLS, this event comes before the handshake.
  server.on('connection', (socket: Socket) => {
    socket.setTimeout(http.timeout);
    socket.on('timeout', () => http.emit('timeout', socket) || socket.destroy());
    socket.once('close', () => stopAwaiting(socket));
    awaitHead(socket);
    http.emit('connection', socket);
    // Added last, this listener runs after the one that parses the data.
    socket.on('data', () => {
      const { req } = latest.get(socket) ?? {};
      if (idle.delete(socket)) awaitHead(socket);
      if (heads.has(socket)) socket.setTimeout(http.timeout);
      else if (req && !req.complete && req.readableLength >= req.readableHighWaterMark)
        socket.pause();
    });
  });
  server.on('secureConnection', (socket: Socket) => http.emit('secureConnection', socket));
  server.on('tlsClientError', (error: Error, socket: Socket) =>
    http.emit('clientError', error, socket),
  );
}
