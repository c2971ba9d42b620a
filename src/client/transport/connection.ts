import type { buildConnector as Build, Dispatcher } from 'undici';
import buildConnector from 'undici/lib/core/connect.js';
import Client from 'undici/lib/dispatcher/client.js';
import type { HttpSettings } from '../../platform/context';
import {
  type ChosenProxy,
  type Connector,
  HEADER_BYTES,
  lookupOptions,
  proxyFor,
  type TlsSettings,
  tlsOptions,
  trustingSystem,
} from './connect-options';
import type { Exchange } from './exchange';
import { withLargeReads } from './large-reads';
import { ProxyError } from './network-errors';
import type { uploadConnector } from './upload';

/** Sends requests to one origin. */
export interface Connection {
  readonly dispatcher: Dispatcher;
  /** Exchanges whose body waits to be read. */
  readonly paused: Set<Exchange>;
  /** The last error of TLS on an open connection, which undici replaces by that of its end. */
  readonly tlsError: { last?: Error | undefined };
  /** For plain http through a proxy. */
  readonly forwarded?: {
    readonly prefix: string;
    readonly headers: Record<string, string>;
    readonly proxy: ChosenProxy;
  };
}

/**
 * Prepares to connect to an origin, through the proxy of the environment.
 * @param upload of streamed bodies, whose connections end only when a transfer stalls
 */
export async function prepareConnection(
  url: URL,
  options: HttpSettings,
  upload?: { readonly uploadConnector: typeof uploadConnector },
): Promise<Connection> {
  const timeoutMs = options.timeout * 1000;
  const { connections = 1 } = options;
  const tls = await tlsOptions(options);
  const own = options.certificate?.origin === url.origin ? options.certificate : undefined;
  const certificate = own && { cert: own.cert, key: own.key };
  const pool = connections > 1 ? await import('undici/lib/dispatcher/pool.js') : undefined;
  const state = { paused: new Set<Exchange>(), tlsError: {} };
  const over = (origin: string, open: Connector) => {
    const connector = upload?.uploadConnector(open, timeoutMs) ?? open;
    const settings = {
      // undici's headers timeout includes the sending of the body: uploads check for stalls instead.
      headersTimeout: upload ? 0 : timeoutMs,
      bodyTimeout: timeoutMs,
      maxHeaderSize: HEADER_BYTES,
      allowH2: false,
      connect: watched(connector, state) as Build.connector,
    };
    return pool
      ? new pool.default(origin, { ...settings, connections })
      : new Client(origin, settings);
  };
  const trusting = <To>(open: (tls: TlsSettings) => Connector<To>) =>
    trustingSystem(open, tls, options.env);
  const direct = ({ hostname, protocol }: URL, own = {}) => {
    const to = { ...own, ...lookupOptions(hostname), timeout: timeoutMs, allowH2: false };
    return protocol === 'http:'
      ? withLargeReads((reads) => buildConnector({ ...to, ...reads }))
      : trusting((tls) => buildConnector({ ...tls, ...to }));
  };
  const proxy = proxyFor(url, options.env);
  if (proxy === undefined)
    return { dispatcher: over(url.origin, direct(url, certificate)), ...state };
  const { proxyAuthorization, tunnelConnector } = await import('./tunnel');
  if (proxy.socks || url.protocol === 'https:') {
    const tunnel = { proxy, protocol: url.protocol, certificate, timeoutMs };
    const connector = trusting((tls) => tunnelConnector({ ...tunnel, tls }));
    return { dispatcher: over(url.origin, connector as Connector), ...state };
  }
  // A proxy gets the whole address in the request line (RFC 9112, 3.2.2).
  const forwarded = {
    prefix: url.origin,
    headers: { host: url.host, ...proxyAuthorization(proxy) },
    proxy,
  };
  const open = direct(proxy.url);
  const toProxy: Connector = (to, callback) =>
    open(to, (error, socket) =>
      callback(error && new ProxyError('PROXY_UNREACHABLE', proxy, error), socket),
    );
  return { dispatcher: over(proxy.url.origin, toProxy), forwarded, ...state };
}

/** Remembers errors of TLS, and resumes what is paused before undici sees the end of a connection. */
function watched(
  open: Connector,
  { paused, tlsError }: Pick<Connection, 'paused' | 'tlsError'>,
): Connector {
  return (to, callback) =>
    open(to, (error, socket) => {
      tlsError.last = undefined;
      socket?.once('error', (error: NodeJS.ErrnoException) => {
        if (error.code?.startsWith('ERR_SSL_')) tlsError.last = error;
      });
      socket?.once('end', () => {
        for (const one of paused) one.resume();
      });
      callback(error, socket);
    });
}
