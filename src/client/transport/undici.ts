import type { OnReadOpts, Socket } from 'node:net';
import type { buildConnector as Build, Dispatcher } from 'undici';
import buildConnector from 'undici/lib/core/connect.js';
import { kConnect } from 'undici/lib/core/symbols.js';
import Client from 'undici/lib/dispatcher/client.js';
import type { HttpClient, HttpRequest, HttpResponse, HttpSettings } from '../../platform/context';
import {
  type ChosenProxy,
  type ConnectCallback,
  type Connector,
  HEADER_BYTES,
  hostOptions,
  proxyFor,
  tlsOptions,
  trustingSystem,
  within,
} from './connect-options';
import { Exchange } from './exchange';
import { networkError, ProxyError, proxyError } from './network-errors';
import type { UploadAttempt, uploadConnector } from './upload';

/** Each origin has one dispatcher, and another for streamed bodies. */
export function undiciTransport(options: HttpSettings): HttpClient {
  const { signal, grace = 0 } = options;
  const connections = new Map<string, Promise<Connection>>();
  const running = new Set<Exchange>();
  const stopAll = () => {
    for (const exchange of running) exchange.stop(grace);
  };
  signal?.addEventListener('abort', stopAll, { once: true });
  const connectionFor = (url: URL, upload?: typeof uploadConnector) => {
    const key = upload ? `streamed ${url.origin}` : url.origin;
    const known = connections.get(key) ?? prepareConnection(url, options, upload);
    connections.set(key, known);
    return known;
  };
  const shared = { ...options, running };
  return {
    send: async (request) => {
      const url = new URL(request.url);
      const { body } = request;
      if (typeof body !== 'object')
        return sendOver(await connectionFor(url), request, undefined, shared);
      const { uploadConnector, uploadOf } = await import('./upload');
      const connection = await connectionFor(url, uploadConnector);
      return sendOver(connection, request, uploadOf(body), shared);
    },
    open: (url) => {
      const connecting = async () => {
        const { dispatcher } = await connectionFor(new URL(url));
        // A pool has no `kConnect`, since it opens connections by its own rules.
        (dispatcher as { [kConnect]?(connected: () => void): void })[kConnect]?.(() => {});
      };
      connecting().catch(() => {});
    },
    close: async () => {
      for (const connection of connections.values()) await (await connection).dispatcher.destroy();
    },
  };
}

async function sendOver(
  { dispatcher, forwarded, paused, tlsError }: Connection,
  { method, url: address, headers, body, effect = false }: HttpRequest,
  upload: UploadAttempt | undefined,
  options: HttpSettings & { readonly running: Set<Exchange> },
): Promise<HttpResponse> {
  const url = new URL(address);
  const { running } = options;
  const unfinished = () => upload?.unfinished() === true;
  const explain = (error: unknown, { sent, stopped, responded }: Exchange) => {
    const left = responded || (sent && !(stopped && unfinished()));
    const cause = stopped ? { code: 'STOPPED' } : (tlsError.last ?? error);
    return (
      (responded ? undefined : upload?.error(error, url, options)) ??
      networkError(cause, url, left, { ...options, isDirect: !responded && !forwarded })
    );
  };
  const exchange = new Exchange({ effect, unfinished, running, paused, explain });
  if (options.signal?.aborted) exchange.stop(0);
  const sent = {
    path: (forwarded?.prefix ?? '') + url.pathname + url.search,
    method,
    headers:
      upload || forwarded ? { ...headers, ...upload?.headers, ...forwarded?.headers } : headers,
    body: upload ? upload.chunks : body,
  };
  // undici documents iterables, but its types lack them.
  dispatcher.dispatch(sent as Dispatcher.DispatchOptions, exchange);
  const response = await exchange.response;
  // A 407 is from the proxy, and not from the instance (RFC 9110, 15.5.8).
  if (forwarded && response.status === 407)
    throw proxyError(new ProxyError('proxy-needs-login', forwarded.proxy), url);
  if (!upload || response.status < 400) return response;
  return { ...response, body: upload.refusal(response.body) };
}

interface Connection {
  readonly dispatcher: Dispatcher;
  readonly paused: Set<Exchange>;
  /** The last TLS error. undici replaces it by the error that the connection has ended. */
  readonly tlsError: { last?: Error | undefined };
  /** Set for plain http through a proxy, which needs the whole address in the request line (RFC 9112, 3.2.2). */
  readonly forwarded?: {
    readonly prefix: string;
    readonly headers: Record<string, string>;
    readonly proxy: ChosenProxy;
  };
}

/** @param upload makes the connections of streamed bodies, which time out only when a transfer stalls */
async function prepareConnection(
  url: URL,
  options: HttpSettings,
  upload?: typeof uploadConnector,
): Promise<Connection> {
  const timeoutMs = options.timeout * 1000;
  const { connections = 1 } = options;
  const pool = connections > 1 ? await import('undici/lib/dispatcher/pool.js') : undefined;
  const state = { paused: new Set<Exchange>(), tlsError: {} };
  const over = (origin: string, open: Connector, late?: () => Error) => {
    const timely = within(timeoutMs, open, late);
    const connector = upload?.(timely, timeoutMs) ?? timely;
    const settings = {
      // undici's headers timeout includes the sending of the body: uploads check for stalls instead.
      headersTimeout: upload ? 0 : timeoutMs,
      bodyTimeout: timeoutMs,
      maxHeaderSize: HEADER_BYTES,
      allowH2: false,
      connect: watched(connector, state, options) as Build.connector,
    };
    const dispatcher = pool
      ? new pool.default(origin, { ...settings, connections })
      : new Client(origin, settings);
    return { dispatcher, ...state };
  };
  const { env } = options;
  const direct = async (to: URL, origin?: string) => {
    const own = { ...hostOptions(to), timeout: 0, allowH2: false };
    // A proxy may be anywhere.
    const refuses = origin === undefined ? undefined : options.refuses;
    if (to.protocol === 'http:') return screened(readingMuch(own), refuses);
    const open = async (system?: string) => {
      const secured = connector({ ...(await tlsOptions(options, origin, system)), ...own });
      return refuses ? onTop(secured, screened(connector(own), refuses)) : secured;
    };
    return trustingSystem(open, env);
  };
  const proxy = proxyFor(url, env);
  if (proxy === undefined) return over(url.origin, await direct(url, url.origin));
  const late = () => new ProxyError('proxy-timeout', proxy);
  const { proxyAuthorization, tunnelConnector } = await import('./tunnel');
  if (proxy.socks || url.protocol === 'https:') {
    const open = async (system?: string) => {
      const tls = await tlsOptions(options, url.origin, system);
      const proxyTls = await tlsOptions(options, undefined, system);
      return tunnelConnector({ proxy, protocol: url.protocol, tls, proxyTls, timeoutMs });
    };
    return over(url.origin, (await trustingSystem(open, env)) as Connector, late);
  }
  const forwarded = {
    prefix: url.origin,
    headers: { host: url.host, ...proxyAuthorization(proxy) },
    proxy,
  };
  const open = await direct(proxy.url);
  const { servername } = hostOptions(proxy.url);
  const toProxy: Connector = (to, callback) => {
    const named = { ...to, servername };
    open(named, (error, socket) =>
      callback(error && new ProxyError('proxy-unreachable', proxy, error), socket),
    );
  };
  return { ...over(proxy.url.origin, toProxy, late), forwarded };
}

/** Returns a connector of undici whose sockets end by the signal of `within`; `addAbortSignal` takes 2 ms to load. */
function connector(options: Build.BuildOptions) {
  const connect = buildConnector(options);
  return ({ signal, ...to }: Parameters<Connector>[0], callback: ConnectCallback): Socket => {
    const socket = connect(to, callback) as Socket;
    const end = () => void socket.destroy();
    if (signal?.aborted) end();
    signal?.addEventListener('abort', end, { once: true });
    return socket;
  };
}

/** Ends a connection to an address that `refuses` does not allow: that of a name may change with each look-up. */
function screened(open: Connector, refuses: HttpSettings['refuses']): Connector {
  if (!refuses) return open;
  return (to, callback) =>
    open(to, (error, socket) => {
      if (!socket || !refuses(socket.remoteAddress ?? '')) return callback(error, socket);
      socket.destroy();
      callback(Object.assign(new Error('address refused'), { code: 'ADDRESS_REFUSED' }), null);
    });
}

/** Has TLS begin on connections of `plain`, when these are ready. */
function onTop(secured: Connector, plain: Connector): Connector {
  return (to, callback) =>
    plain({ ...to, protocol: 'http:' } as object, (error, httpSocket) => {
      if (!httpSocket) return callback(error, null);
      secured({ ...to, httpSocket } as object, callback);
    });
}

/** Remembers TLS errors, and resumes paused exchanges before undici sees the end of a connection. */
function watched(
  open: Connector,
  { paused, tlsError }: Pick<Connection, 'paused' | 'tlsError'>,
  { connected }: Pick<HttpSettings, 'connected'>,
): Connector {
  return (to, callback) =>
    open(to, (error, socket) => {
      tlsError.last = undefined;
      socket?.once('error', (error: NodeJS.ErrnoException) => {
        if (error.code?.startsWith('ERR_SSL_')) tlsError.last = error;
      });
      socket?.once('end', () => {
        for (const exchange of paused) exchange.resume();
      });
      if (socket) connected?.();
      callback(error, socket);
    });
}

/** Bytes that Node reads at once from other sockets. */
const FIRST_READ = 64 * 1024;
const MOST_READ = 1024 * 1024;
/** A shorter piece is copied out of its buffer, which would otherwise live as long as the piece. */
const SHORT_READ = 32 * 1024;

/**
 * Returns a connector whose sockets read more at once while more has arrived: in pieces of 64 KiB, a large file takes
 * half as long again. TLS gains nothing, since its records have 16 KiB.
 */
function readingMuch(options: Build.BuildOptions): Connector {
  return (to, callback) => {
    let unused: Buffer | undefined;
    const buffer = () => {
      const next = unused ?? Buffer.allocUnsafeSlow(FIRST_READ);
      unused = undefined;
      return next;
    };
    const pushed = (length: number, room: Buffer) => {
      const piece = room.subarray(0, length);
      if (length < SHORT_READ) {
        unused = room;
        return socket.push(Buffer.from(piece));
      }
      const size = length < room.length ? room.length : Math.min(4 * room.length, MOST_READ);
      unused = Buffer.allocUnsafeSlow(size);
      return socket.push(piece);
    };
    const onread = { buffer, callback: pushed as OnReadOpts['callback'] };
    const socket = connector({ ...options, onread })(to, callback);
    return socket;
  };
}
