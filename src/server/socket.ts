import { createServer as createHttpServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import type { App } from './app';
import { connectionOf } from './exchange';
import type { Log } from './log';
import { ServiceError, systemCode } from './service-error';
import type { Tls } from './tls';
import { answerUnserved } from './unserved';

const options = {
  // One without a host is answered by us.
  requireHostHeader: false,
  headersTimeout: 20_000,
};

/** A server, not listening yet, that hands requests to the app; each call stands in `running` while it runs. */
export function createServer(
  app: App,
  running: Set<Promise<unknown>>,
  tls: Tls | undefined,
  { log, now }: { readonly log: Log; readonly now: () => Date },
): Server {
  const server = tls
    ? createHttpsServer({ ...options, ...tls, handshakeTimeout: 10_000 })
    : createHttpServer(options);
  const unserved = answerUnserved(server, log, now);
  const fetch = track(app, running);
  const listener = getRequestListener((request, env) => fetch(request, env as HttpBindings), {
    overrideGlobalObjects: false,
    errorHandler: unserved,
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

/** HTTP/1.0, as health checks still speak it, names no host: it is the address that was reached. */
function nameHost({ headers, httpVersion, socket }: IncomingMessage): void {
  const { localAddress = '', localPort } = socket;
  if (httpVersion !== '1.0' || headers.host !== undefined) return;
  const address = localAddress.replace(/^::ffff:(?=[\d.]+$)/i, '');
  headers.host = `${reachable(address)}:${localPort}`;
}

/** Listens, and answers the port. Throws a `ServiceError` that says why it cannot. */
export function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, host, port)));
    server.listen({ host, port }, () => resolve((server.address() as AddressInfo).port));
  });
}

function listenError(cause: Error, host: string, port: number): ServiceError {
  const code = systemCode(cause);
  const where = `${host} port ${port}`;
  if (code === 'EADDRINUSE') {
    return new ServiceError(`${where} is in use`, { hint: 'choose another with --port', cause });
  }
  return new ServiceError(`cannot listen on ${where}${code && ` (${code})`}`, { cause });
}

/** The host in an address; "any address" is reached by the loopback's. */
export function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
