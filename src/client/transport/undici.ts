import type { buildConnector as Build, Dispatcher } from 'undici';
import request from 'undici/lib/api/api-request.js';
import buildConnector from 'undici/lib/core/connect.js';
import Client from 'undici/lib/dispatcher/client.js';
import { connecting } from './localhost';
import { explain, refusedByProxy } from './network-errors';
import { proxyFor } from './proxy';
import { type TrustOptions, trustOf } from './tls-options';
import {
  type ClosableTransport,
  TransportError,
  type WireRequest,
  type WireResponse,
} from './transport';
import type { Connector, Outgoing } from './upload';

export interface TransportOptions extends TrustOptions {
  /** Seconds until the connection stands, until the answer begins, and between two pieces of it. */
  readonly timeout: number;
  readonly signal?: AbortSignal | undefined;
  /** Requests to one origin that may run at once; 1. */
  readonly connections?: number | undefined;
}

interface Connected {
  readonly dispatcher: Dispatcher;
  /** How a request is written for a proxy that passes it on. */
  readonly forwarded?: { readonly prefix: string; readonly headers: Record<string, string> };
}

/**
 * A transport over undici: one dispatcher per origin, through the proxy that the environment names. A
 * streamed body goes over connections of its own, on which only a stalled transfer is cut.
 */
export function undiciTransport(options: TransportOptions): ClosableTransport {
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
      const { outgoing } = await import('./upload');
      const streamed = { ...request, body: outgoing(body) };
      return sendOver(await dispatcherFor(url, true), url, streamed, options);
    },
    close: async () => {
      for (const connected of dispatchers.values()) await (await connected).dispatcher.destroy();
    },
  };
}

async function connect(url: URL, options: TransportOptions, streamed: boolean): Promise<Connected> {
  const milliseconds = options.timeout * 1000;
  const tls = await trustOf(options);
  // undici's clock for the answer to begin runs while a body is sent: there the socket watches instead.
  const settings = {
    headersTimeout: streamed ? 0 : milliseconds,
    bodyTimeout: milliseconds,
    allowH2: false,
  };
  const upload = streamed ? await import('./upload') : undefined;
  const watched = (open: Connector) => upload?.patient(open, milliseconds) ?? open;
  const { connections = 1 } = options;
  const pool = connections > 1 ? await import('undici/lib/dispatcher/pool.js') : undefined;
  const direct = ({ hostname }: URL) =>
    buildConnector({ ...tls, ...connecting(hostname), timeout: milliseconds, allowH2: false });
  const over = (origin: string, open: Connector) => {
    const one = { ...settings, connect: watched(open) as Build.connector };
    return pool ? new pool.default(origin, { ...one, connections }) : new Client(origin, one);
  };
  const proxy = proxyFor(url, options.env);
  if (proxy === undefined) return { dispatcher: over(url.origin, direct(url)) };
  const { proxyAuthorization, tunnel } = await import('./tunnel');
  if (url.protocol === 'https:') {
    return { dispatcher: over(url.origin, tunnel(proxy, tls, milliseconds) as Connector) };
  }
  // Plain http is sent to the proxy whole, its target in the request line (RFC 9112, 3.2.2).
  const forwarded = {
    prefix: url.origin,
    headers: { host: url.host, ...proxyAuthorization(proxy) },
  };
  return { dispatcher: over(proxy.origin, direct(proxy)), forwarded };
}

/** Interim responses, such as 103, that may precede the final one; each restarts undici's clock. */
const MOST_INTERIM = 10;

/** How far a request got. */
interface Progress {
  /** It began to leave: undici calls `onRequestStart` right before it writes. */
  left: boolean;
}

/** An interceptor for undici's `Dispatcher.compose`: notes the progress, and limits interim responses. */
function tracking(progress: Progress): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) => dispatch(options, tracked(handler, progress));
}

/** undici's handlers keep their state in private fields: only a call on the handler itself reaches it. */
function tracked(
  handler: Dispatcher.DispatchHandler,
  progress: Progress,
): Dispatcher.DispatchHandler {
  let interim = 0;
  return {
    onRequestStart: (controller, context) => {
      handler.onRequestStart?.(controller, context);
      // What was aborted before is not written.
      progress.left ||= !controller.aborted;
    },
    onResponseStart: (controller, status, headers, text) => {
      if (status < 200) interim++;
      if (interim <= MOST_INTERIM) handler.onResponseStart?.(controller, status, headers, text);
      else controller.abort(Object.assign(new Error('no answer'), { code: 'INTERIM_ONLY' }));
    },
    onResponseData: (controller, chunk) => handler.onResponseData?.(controller, chunk),
    onResponseEnd: (controller, trailers) => handler.onResponseEnd?.(controller, trailers),
    onResponseError: (controller, error) => handler.onResponseError?.(controller, error),
  };
}

interface Sendable extends Omit<WireRequest, 'body'> {
  readonly body: string | Outgoing | undefined;
}

async function sendOver(
  { dispatcher, forwarded }: Connected,
  url: URL,
  { method, headers, body }: Sendable,
  options: TransportOptions,
): Promise<WireResponse> {
  const streamed = typeof body === 'object' ? body : undefined;
  const progress: Progress = { left: false };
  const response = await request
    .call(dispatcher.compose(tracking(progress)), {
      origin: url.origin,
      path: (forwarded?.prefix ?? '') + url.pathname + url.search,
      method,
      headers: { ...headers, ...streamed?.headers, ...forwarded?.headers },
      body: typeof body === 'object' ? body.chunks : body,
      signal: options.signal ?? null,
    })
    .catch((error: unknown) => {
      const left = progress.left && !(options.signal?.aborted && streamed?.unfinished());
      throw streamed?.failure(error, url, options) ?? explain(error, url, left, options.timeout);
    });
  if (forwarded && response.statusCode === 407) throw refusedByProxy(url);
  return toWire(response, url, options, streamed);
}

function toWire(
  response: Dispatcher.ResponseData,
  url: URL,
  options: TransportOptions,
  streamed: Outgoing | undefined,
): WireResponse {
  const length = Number(response.headers['content-length'] ?? Number.NaN);
  const body = readBody(response.body, length, url, options);
  return {
    status: response.statusCode,
    headers: response.headers,
    body: streamed && response.statusCode >= 400 ? streamed.refusal(body) : body,
  };
}

async function* readBody(
  body: AsyncIterable<Uint8Array>,
  length: number,
  url: URL,
  options: TransportOptions,
): AsyncIterable<Uint8Array> {
  let read = 0;
  try {
    for await (const piece of body) {
      read += piece.byteLength;
      yield piece;
    }
  } catch (error) {
    // undici (7.30.2) takes a connection that closes after the last byte, while nobody reads, for one that broke.
    if (read === length) return;
    throw error instanceof TransportError ? error : explain(error, url, true, options.timeout);
  }
}
