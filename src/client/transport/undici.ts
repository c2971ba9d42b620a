import type { buildConnector as Build, Dispatcher } from 'undici';
import request from 'undici/lib/api/api-request.js';
import buildConnector from 'undici/lib/core/connect.js';
import { kConnect } from 'undici/lib/core/symbols.js';
import Client from 'undici/lib/dispatcher/client.js';
import type { HttpClient, HttpOptions, HttpRequest, HttpResponse } from '../../platform/context';
import { certificateFor, lookupOptions, proxyFor, tlsOptions } from './connect-options';
import { networkError, proxyAuthenticationError, TransportError } from './network-errors';
import type { Connector, UploadAttempt } from './upload';

interface Connected {
  readonly dispatcher: Dispatcher;
  /** The running requests. */
  readonly running: Set<Dispatcher.DispatchController>;
  /** The last error of TLS on an open connection, which undici replaces by that of its end. */
  readonly tls: { error?: Error | undefined };
  /** For plain http through a proxy. */
  readonly forwarded?: { readonly prefix: string; readonly headers: Record<string, string> };
}

/**
 * A transport over undici: one dispatcher per origin, through the proxy of the environment. Streamed bodies have their
 * own connections, which end only when a transfer stalls.
 */
export function undiciTransport(options: HttpOptions): HttpClient {
  const dispatchers = new Map<string, Promise<Connected>>();
  const dispatcherFor = (url: URL, streamed: boolean) => {
    const key = streamed ? `streamed ${url.origin}` : url.origin;
    const known = dispatchers.get(key) ?? connect(url, options, streamed);
    dispatchers.set(key, known);
    return known;
  };
  return {
    send: async (request) => {
      const url = new URL(request.url);
      const { body } = request;
      if (typeof body !== 'object')
        return sendOver(await dispatcherFor(url, false), url, { ...request, body }, options);
      const { uploadOf } = await import('./upload');
      const streamed = { ...request, body: uploadOf(body) };
      return sendOver(await dispatcherFor(url, true), url, streamed, options);
    },
    open: (url) => {
      const connecting = async () => {
        const { dispatcher } = await dispatcherFor(new URL(url), false);
        // A pool has none: it opens connections by its own rules.
        (dispatcher as Connectable)[kConnect]?.(() => {});
      };
      connecting().catch(() => {});
    },
    close: async () => {
      for (const connected of dispatchers.values()) await (await connected).dispatcher.destroy();
    },
  };
}

interface Connectable {
  [kConnect]?(connected: () => void): void;
}

async function connect(url: URL, options: HttpOptions, streamed: boolean): Promise<Connected> {
  const milliseconds = options.timeout * 1000;
  const tls = await tlsOptions(options);
  // undici's headers timeout includes the sending of the body: uploads check for stalls instead.
  const settings = {
    headersTimeout: streamed ? 0 : milliseconds,
    bodyTimeout: milliseconds,
    allowH2: false,
  };
  const upload = streamed ? await import('./upload') : undefined;
  const wrapped = (open: Connector) => upload?.uploadConnector(open, milliseconds) ?? open;
  const running: Connected['running'] = new Set();
  const state: Pick<Connected, 'running' | 'tls'> = { running, tls: {} };
  const { connections = 1 } = options;
  const pool = connections > 1 ? await import('undici/lib/dispatcher/pool.js') : undefined;
  const certificate = certificateFor(url, options);
  const direct = ({ hostname }: URL, own = {}) =>
    buildConnector({
      ...{ ...tls, ...own, ...lookupOptions(hostname) },
      ...{ timeout: milliseconds, allowH2: false },
    });
  const over = (origin: string, open: Connector) => {
    const one = { ...settings, connect: watched(wrapped(open), state) as Build.connector };
    return pool ? new pool.default(origin, { ...one, connections }) : new Client(origin, one);
  };
  const proxy = proxyFor(url, options.env);
  if (proxy === undefined)
    return { dispatcher: over(url.origin, direct(url, certificate)), ...state };
  const { proxyAuthorization, tunnelConnector } = await import('./tunnel');
  if (url.protocol === 'https:') {
    const connector = tunnelConnector({
      proxy,
      tls,
      certificate,
      timeout: milliseconds,
    }) as Connector;
    return { dispatcher: over(url.origin, connector), ...state };
  }
  // A proxy gets the whole address in the request line (RFC 9112, 3.2.2).
  const forwarded = {
    prefix: url.origin,
    headers: { host: url.host, ...proxyAuthorization(proxy) },
  };
  return { dispatcher: over(proxy.origin, direct(proxy)), forwarded, ...state };
}

/**
 * Remembers errors of TLS, and resumes the parser before undici sees the end of the connection, after which nothing more can arrive. undici 7.30.2
 * drops the body, or throws where nobody can catch it, if the parser is paused then. Issue #5360 there, mended in
 * version 8, which requires Node.js 22.
 */
function watched(open: Connector, { running, tls }: Pick<Connected, 'running' | 'tls'>): Connector {
  return (to, callback) =>
    open(to, (error, socket) => {
      socket?.once('end', () => {
        for (const controller of running) controller.resume();
      });
      tls.error = undefined;
      socket?.once('error', (error: NodeJS.ErrnoException) => {
        if (error.code?.startsWith('ERR_SSL_')) tls.error = error;
      });
      callback(error, socket);
    });
}

/** Each interim response, such as 103, restarts undici's timeout, so that their number is limited. */
const MAX_INTERIM = 10;

interface SendState {
  /** Part of the request may have been sent: undici calls `onRequestStart` right before it writes. */
  left: boolean;
}

/** An interceptor for undici's `Dispatcher.compose` that updates `state` and limits interim responses. */
function tracking(
  state: SendState,
  running: Connected['running'],
): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) => dispatch(options, tracked(handler, state, running));
}

/** Not a subclass or proxy: undici's handlers have private fields, which only calls on the handler itself can use. */
function tracked(
  handler: Dispatcher.DispatchHandler,
  state: SendState,
  running: Connected['running'],
): Dispatcher.DispatchHandler {
  let interim = 0;
  let left = Number.NaN;
  return {
    onRequestStart: (controller, context) => {
      running.add(controller);
      handler.onRequestStart?.(controller, context);
      // An aborted request is not written.
      state.left ||= !controller.aborted;
    },
    onResponseStart: (controller, status, headers, text) => {
      if (status < 200) interim++;
      left = Number(headers['content-length'] ?? Number.NaN);
      if (interim <= MAX_INTERIM) handler.onResponseStart?.(controller, status, headers, text);
      else controller.abort(Object.assign(new Error('no response'), { code: 'INTERIM_ONLY' }));
    },
    onResponseData: (controller, chunk) => {
      handler.onResponseData?.(controller, chunk);
      left -= chunk.byteLength;
      // A paused body is dropped when the connection is reset, even a complete one. Empty chunks come of `watched`.
      if (left === 0 || chunk.byteLength === 0) controller.resume();
    },
    onResponseEnd: (controller, trailers) => {
      running.delete(controller);
      handler.onResponseEnd?.(controller, trailers);
    },
    onResponseError: (controller, error) => {
      running.delete(controller);
      handler.onResponseError?.(controller, error);
    },
  };
}

interface Sendable extends Omit<HttpRequest, 'body'> {
  readonly body: string | UploadAttempt | undefined;
}

async function sendOver(
  { dispatcher, forwarded, running, tls }: Connected,
  url: URL,
  { method, headers, body, effect = false }: Sendable,
  options: HttpOptions,
): Promise<HttpResponse> {
  const streamed = typeof body === 'object' ? body : undefined;
  const state: SendState = { left: false };
  const stop = stopping(options, () => effect && state.left && !streamed?.unfinished());
  const response = await request
    .call(dispatcher.compose(tracking(state, running)), {
      origin: url.origin,
      path: (forwarded?.prefix ?? '') + url.pathname + url.search,
      method,
      headers: { ...headers, ...streamed?.headers, ...forwarded?.headers },
      body: typeof body === 'object' ? body.chunks : body,
      signal: stop.signal,
    })
    .catch((error: unknown) => {
      stop.over();
      const left = state.left && !(stop.signal.aborted && streamed?.unfinished());
      throw (
        streamed?.error(error, url, options) ??
        networkError(stopped(stop) ?? tls.error ?? error, url, left, options.timeout)
      );
    });
  if (forwarded && response.statusCode === 407) throw proxyAuthenticationError(url);
  return toWire(response, url, { ...options, stop }, streamed);
}

/** When a request is given up. */
interface Stop {
  readonly signal: AbortSignal;
  /** The request has ended. */
  over(): void;
}

/**
 * Gives a request up when the signal aborts, but one whose effect can no longer be prevented not until `grace` is over:
 * the secret of a last view, or the link of a new push, may be on its way.
 */
function stopping({ signal, grace = 0 }: HttpOptions, mayHaveEffect: () => boolean): Stop {
  const controller = new AbortController();
  const stop = () => controller.abort();
  let timer: NodeJS.Timeout | undefined;
  const begin = () => {
    if (mayHaveEffect()) timer = setTimeout(stop, grace);
    else stop();
  };
  if (signal?.aborted) stop();
  else signal?.addEventListener('abort', begin, { once: true });
  const over = () => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', begin);
  };
  return { signal: controller.signal, over };
}

/** An error with a code for a request that was aborted, which fails with whatever the reason is. */
function stopped({ signal }: Stop): object | undefined {
  return signal.aborted ? { code: 'STOPPED' } : undefined;
}

type Stoppable = Pick<HttpOptions, 'timeout'> & { readonly stop: Stop };

function toWire(
  response: Dispatcher.ResponseData,
  url: URL,
  options: Stoppable,
  streamed: UploadAttempt | undefined,
): HttpResponse {
  const body = readBody(response.body, url, options);
  return {
    status: response.statusCode,
    headers: response.headers,
    body: streamed && response.statusCode >= 400 ? streamed.refusal(body) : body,
  };
}

async function* readBody(
  body: AsyncIterable<Uint8Array>,
  url: URL,
  { timeout, stop }: Stoppable,
): AsyncIterable<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    if (error instanceof TransportError) throw error;
    throw networkError(stopped(stop) ?? error, url, true, timeout);
  } finally {
    stop.over();
  }
}
