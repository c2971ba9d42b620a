import type { Dispatcher } from 'undici';
import { kConnect } from 'undici/lib/core/symbols.js';
import type { HttpClient, HttpRequest, HttpResponse, HttpSettings } from '../../platform/context';
import { type Connection, prepareConnection } from './connection';
import { Exchange } from './exchange';
import { networkError, ProxyError, proxyError } from './network-errors';
import type { UploadAttempt } from './upload';

/** A transport over undici: one dispatcher per origin, and another for streamed bodies. */
export function undiciTransport(options: HttpSettings): HttpClient {
  const { signal, grace = 0 } = options;
  const connections = new Map<string, Promise<Connection>>();
  const running = new Set<Exchange>();
  const stopAll = () => {
    for (const exchange of running) exchange.stop(grace);
  };
  signal?.addEventListener('abort', stopAll, { once: true });
  const connectionFor = (url: URL, upload?: typeof import('./upload')) => {
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
      const streams = await import('./upload');
      const connection = await connectionFor(url, streams);
      return sendOver(connection, request, streams.uploadOf(body), shared);
    },
    open: (url) => {
      const connecting = async () => {
        const { dispatcher } = await connectionFor(new URL(url));
        // A pool has none: it opens connections by its own rules.
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
    const own = responded ? undefined : upload?.error(error, url, options);
    const left = responded || (sent && !(stopped && unfinished()));
    const cause = stopped ? { code: 'STOPPED' } : (tlsError.last ?? error);
    return own ?? networkError(cause, url, left, options.timeout, options.ca !== undefined);
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
  // Of the proxy (RFC 9110, 15.5.8).
  if (forwarded && response.status === 407)
    throw proxyError(new ProxyError('PROXY_AUTHENTICATION', forwarded.proxy), url);
  if (!upload || response.status < 400) return response;
  return { ...response, body: upload.refusal(response.body) };
}
