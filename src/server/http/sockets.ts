import { readFile } from 'node:fs/promises';
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import { setImmediate } from 'node:timers/promises';
import type { TlsOptions } from 'node:tls';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { whyUnreadable } from '../../platform/files/file-error';
import { connectionOf, sendQueues } from '../../platform/files/socket-progress';
import { hostProblems } from '../hosts';
import { type Listening, type ListenTarget, listen } from '../ops/listen';
import type { Log } from '../ops/log';
import { createQueue } from '../queues';
import { invalidInput, ServiceError } from '../service-errors';
import {
  type CheckedSettings,
  readingRateOf,
  type ServiceIo,
  type ServiceSettings,
} from '../service-settings';
import { type PemFile, tlsPair, tlsWarnings } from '../tls-pair';
import { isNormal, refuseBadRequests, setMissingHost } from './bad-requests';
import type { App } from './env';
import {
  type ConnectionLimit,
  connectionLimiter,
  connectionLimitOf,
  GRACE_MS,
  gracefulStop,
  serializeRequests,
} from './hardening/connections';
import { liftLimit, limitTimes, type SomeTimeouts, type Timeouts } from './hardening/timeouts';
import type { ClientSocket } from './request-origin';
import { mostBytes } from './with-body';

export interface Sockets {
  readonly servers: readonly Server[];
  /** @throws ServiceError when an address cannot be listened on */
  listen(): Promise<Listening[]>;
  /** Accepts no new connections; resolves when all requests have ended, even those whose clients have left. */
  stop(): Promise<void>;
}

interface SocketOptions {
  readonly timeouts: SomeTimeouts;
  readonly connections: ConnectionLimit;
  /** Milliseconds after which a stop aborts the requests that are still running. */
  readonly grace: number;
  readonly log: Log;
  readonly now: () => Date;
  /** Undefined for plain HTTP. */
  readonly tls: TlsOptions | undefined;
  /**
   * The host that the servers listen on; if it is loopback, requests that name another host are refused. Undefined
   * where requests may name any host.
   */
  readonly ownHost?: string | undefined;
}

export function socketOptions(
  settings: CheckedSettings,
  { now, grace = GRACE_MS }: ServiceIo,
  { timeouts, ...parts }: Pick<SocketOptions, 'log' | 'tls'> & { timeouts?: Partial<Timeouts> },
): SocketOptions {
  const { host, publicUrl, trustProxy, maxFileSize } = settings;
  return {
    ...parts,
    now,
    grace,
    timeouts: {
      read: readingRateOf(settings),
      rest: mostBytes(maxFileSize),
      // Load balancers keep idle connections for up to ten minutes; who closes first must be they.
      ...(trustProxy && { keepAlive: 620_000 }),
      ...timeouts,
    },
    connections: connectionLimitOf(settings),
    // Behind a proxy, or with a public address, requests name another host.
    ownHost: publicUrl || trustProxy ? undefined : host,
  };
}

export function createSockets(
  app: App,
  targets: readonly ListenTarget[],
  options: SocketOptions,
): Sockets {
  const tls = options.tls && { ...options.tls, handshakeTimeout: 10_000 };
  const limitConnections = connectionLimiter(options.connections);
  // Protects the server from clients that stall, flood or never leave; a reverse proxy does most of this too.
  const harden = (server: Server) => {
    serializeRequests(server);
    limitConnections(server);
    limitTimes(server, options.timeouts);
    return gracefulStop(server, tls !== undefined, options.grace);
  };
  const running = new Set<Promise<unknown>>();
  const all = targets.map((target) => {
    const server = createServer(tracked(app, running), { ...options, tls });
    return { target, server, stop: harden(server) };
  });
  return {
    servers: all.map(({ server }) => server),
    listen: () => Promise.all(all.map(({ server, target }) => listen(server, target, tls))),
    stop: async () => {
      await Promise.all(all.map(({ stop }) => stop()));
      // The app runs a request for a moment after its client has left.
      await Promise.allSettled(running);
    },
  };
}

type Fetch = (request: Request, bindings: HttpBindings) => Response | Promise<Response>;

/** Creates a server that passes valid requests to `fetch`; it does not listen yet. */
function createServer(fetch: Fetch, { log, now, tls, ownHost }: SocketOptions): Server {
  // A missing host is refused by `refuseBadRequests`, as JSON.
  const basics = { requireHostHeader: false };
  const server = tls ? createHttpsServer({ ...basics, ...tls }) : createHttpServer(basics);
  const refuse = refuseBadRequests(server, log, now);
  const hostProblem = hostProblems(server, ownHost);
  const serve: Fetch = (request, bindings) => {
    const problem = isNormal(bindings.incoming.url) ? hostProblem(request.url) : 400;
    return problem ? refuse(problem) : fetch(request, bindings);
  };
  const listener = getRequestListener((request, env) => serve(request, env as HttpBindings), {
    errorHandler: () => refuse(400),
    // Hono would read the rest of a body for half a second only, which is too short for slow clients (`discardRest`).
    autoCleanupIncoming: false,
  });
  server.on('request', setMissingHost);
  server.on('request', listener);
  return server;
}

/** Wraps the app so that `running` contains a promise for each call until the call ends. */
function tracked(app: App, running: Set<Promise<unknown>>): Fetch {
  return (request, { incoming, outgoing }) => {
    const response = app(request, clientSocketOf(incoming, outgoing));
    running.add(response);
    const done = () => running.delete(response);
    response.then(done, done);
    return response;
  };
}

function clientSocketOf(incoming: IncomingMessage, outgoing: ServerResponse): ClientSocket {
  return {
    ip: incoming.socket.remoteAddress,
    body() {
      if (incoming.headers.expect !== undefined) {
        outgoing.writeContinue();
        outgoing.removeHeader('connection');
      }
      // Leaving the loop early must not destroy the socket: the response has yet to be sent.
      return incoming.iterator({ destroyOnReturn: false });
    },
    accept: () => liftLimit(incoming),
    closed: (listener) => outgoing.once('close', listener),
    cut: () => incoming.socket.destroy(),
    received: (listener) => whenReceived(incoming, outgoing, listener),
    signal: {
      get aborted() {
        return outgoing.destroyed;
      },
    },
  };
}

/**
 * Reports whether a response has arrived. Node.js does not say so, as the last bytes may wait in the system. Therefore
 * the server only ends its side of the connection after the response, and the client ends its own side when it reads
 * this end. If the connection is reset or times out, the response was lost; so it was if the client's end came before
 * the response, or while the system still had bytes of it, which only Linux tells.
 */
async function whenReceived(
  { socket }: IncomingMessage,
  outgoing: ServerResponse,
  listener: (whole: boolean) => void,
): Promise<void> {
  const { destroySoon } = socket;
  outgoing.setHeader('connection', 'close');
  // Node.js calls `destroySoon` once the response is written.
  socket.destroySoon = () => {
    socket.destroySoon = destroySoon;
    socket.end();
  };
  let isDone = false;
  const report = (whole: boolean) => {
    if (!isDone) listener(whole);
    isDone = true;
  };
  const isAcknowledged = () => (sendQueues().get(connectionOf(socket)) ?? 0) <= END_OF_SENDING;
  socket.once('end', () => report(outgoing.writableFinished && isAcknowledged()));
  socket.once('close', () => report(false));
  if (socket.destroyed) report(false);
  // The client's end may wait in the system: the second turn of the event loop has read what arrived before the first.
  await setImmediate();
  await setImmediate();
}

/** The end of the server's side counts as one byte of the send queue. */
const END_OF_SENDING = 1;

/**
 * Reads the certificate chain and the key of the settings, if any.
 * @throws ServiceError when they cannot be read or do not match
 */
export async function readTls({ tlsCert, tlsKey }: ServiceSettings) {
  if (!tlsCert && !tlsKey) return undefined;
  if (!tlsCert || !tlsKey) throw invalidInput('TLS requires both --tls-cert and --tls-key');
  return tlsPair(await read(tlsCert), await read(tlsKey));
}

/** Returns a function that reads certificate and key again, for new connections; an invalid pair changes nothing. */
export function tlsReloader(
  servers: readonly Server[],
  settings: ServiceSettings,
  { log, now }: Pick<SocketOptions, 'log' | 'now'>,
) {
  const queue = createQueue();
  const reload = async () => {
    try {
      const tls = await readTls(settings);
      if (tls) for (const server of servers) (server as HttpsServer).setSecureContext(tls);
      for (const warning of tlsWarnings(tls, now())) log.warning(warning);
      log.event('reload', { certificate: tls ? 'read' : 'none' });
    } catch (error) {
      log.warning(`the certificate was not replaced: ${(error as Error).message}`);
    }
  };
  return () => queue(reload);
}

async function read(path: string): Promise<PemFile> {
  const bytes = await readFile(path).catch((cause: unknown) => {
    throw new ServiceError(`cannot read "${path}": ${whyUnreadable(cause)}`, { cause });
  });
  return { path, bytes };
}
