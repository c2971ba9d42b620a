import { createServer as createHttpServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import type { Log } from '../ops/log';
import { ServiceError, systemCode } from '../service-error';
import { answerUnserved } from './bad-requests';
import { foreignHosts, isNormal } from './listen-address';
import type { App } from './parts';
import { takeOneAtATime } from './pipelining';
import { connectionOf } from './timeouts';
import type { Tls } from './tls';

const options = {
  // One without a host is answered by us.
  requireHostHeader: false,
};

export interface ServerOptions {
  readonly log: Log;
  readonly now: () => Date;
  /** The host to listen on; on loopback, requests that name another are refused. Nothing where any may be named. */
  readonly ownHost?: string | undefined;
}

/** A server, not listening yet, that hands requests to the app; each call stands in `running` while it runs. */
export function createServer(
  app: App,
  running: Set<Promise<unknown>>,
  tls: Tls | undefined,
  { log, now, ownHost }: ServerOptions,
): Server {
  const server = tls
    ? createHttpsServer({ ...options, ...tls, handshakeTimeout: 10_000 })
    : createHttpServer(options);
  takeOneAtATime(server);
  const unserved = answerUnserved(server, log, now);
  const fetch = track(app, running);
  const isForeign = ownHost === undefined ? () => false : foreignHosts(server, ownHost);
  const serve = (request: Request, bindings: HttpBindings) => {
    if (!isNormal(bindings.incoming.url)) return unserved(400);
    return isForeign(request.url) ? unserved(421) : fetch(request, bindings);
  };
  const listener = getRequestListener((request, env) => serve(request, env as HttpBindings), {
    overrideGlobalObjects: false,
    errorHandler: () => unserved(400),
    // It would read on for half a second only.
    autoCleanupIncoming: false,
  });
  server.on('request', nameHost);
  server.on('request', listener);
  return server;
}

/** The app as the socket calls it, each call noted while it runs. */
function track(app: App, running: Set<Promise<unknown>>) {
  return (request: Request, { incoming, outgoing }: HttpBindings) => {
    const response = app(request, connectionOf(incoming, outgoing));
    running.add(response);
    const done = () => running.delete(response);
    response.then(done, done);
    return response;
  };
}

/**
 * HTTP/1.0, as health checks still speak it, names no host: it is the address that was reached. Several hosts are none
 * (RFC 9112, 3.2): a proxy may have looked at another one than Node.js does.
 */
function nameHost({ headers, headersDistinct, httpVersion, socket }: IncomingMessage): void {
  if ((headersDistinct.host?.length ?? 0) > 1) headers.host = '';
  const { localAddress, localPort } = socket;
  if (httpVersion !== '1.0' || headers.host !== undefined) return;
  const address = localAddress?.replace(/^::ffff:(?=[\d.]+$)/i, '');
  headers.host = address === undefined ? 'localhost' : `${reachable(address)}:${localPort}`;
}

/** Where to listen: at an address, or on a socket that listens already. */
export type Place = { readonly host: string; readonly port: number } | { readonly fd: number };

export interface Listening {
  /** The address it listens at; nothing for a socket in the file system. */
  readonly host: string | undefined;
  /** The same as a URL that this machine reaches; `fd:3` for a socket in the file system, whose name nobody told. */
  readonly url: string;
}

/** Has the server listen. Throws a `ServiceError` that says why it cannot, and names the option for another port. */
export function listen(
  server: Server,
  place: Place,
  secure: boolean,
  option = '--port',
): Promise<Listening> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => reject(listenError(error, place, option));
    server.once('error', fail);
    const listening = () => {
      const address = server.address();
      if (address === null || typeof address === 'string')
        return resolve({ host: undefined, url: 'fd' in place ? `fd:${place.fd}` : '' });
      const host = 'host' in place ? place.host : address.address;
      resolve({ host, url: `http${secure ? 's' : ''}://${reachable(host)}:${address.port}` });
    };
    try {
      server.listen(place, listening);
    } catch (error) {
      // A descriptor that is no socket.
      fail(error as Error);
    }
  });
}

function listenError(cause: Error, place: Place, option: string): ServiceError {
  const code = systemCode(cause);
  if ('fd' in place) {
    const what = `descriptor ${place.fd}, as passed by LISTEN_FDS, is no socket to listen on`;
    return new ServiceError(`${what}${code && ` (${code})`}`, { cause });
  }
  const { host, port } = place;
  const where = `${host} port ${port}`;
  if (code === 'EADDRINUSE') {
    return new ServiceError(`${where} is in use`, { hint: `choose another with ${option}`, cause });
  }
  return new ServiceError(`cannot listen on ${where}${code && ` (${code})`}`, { cause });
}

/** The host in an address; "any address" is reached by the loopback's. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
