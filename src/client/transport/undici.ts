import request from 'undici/lib/api/api-request.js';
import { kConnect } from 'undici/lib/core/symbols.js';
import type { HttpClient, HttpOptions, HttpRequest, HttpResponse } from '../../platform/context';
import { type Connection, prepareConnection } from './connection';
import { type Lifecycle, lifecycles } from './lifecycle';
import { networkError, proxyAuthenticationError, TransportError } from './network-errors';
import type { UploadAttempt } from './upload';

/** A transport over undici: one dispatcher per origin, and another for streamed bodies. */
export function undiciTransport(options: HttpOptions): HttpClient {
  const connections = new Map<string, Promise<Connection>>();
  const begin = lifecycles(options);
  const connectionFor = (url: URL, streamed: boolean) => {
    const key = streamed ? `streamed ${url.origin}` : url.origin;
    const known = connections.get(key) ?? prepareConnection(url, options, streamed);
    connections.set(key, known);
    return known;
  };
  return {
    send: async (request) => {
      const url = new URL(request.url);
      const { body } = request;
      if (typeof body !== 'object')
        return sendOver(await connectionFor(url, false), url, { ...request, body, begin }, options);
      const { uploadOf } = await import('./upload');
      const streamed = { ...request, body: uploadOf(body), begin };
      return sendOver(await connectionFor(url, true), url, streamed, options);
    },
    open: (url) => {
      const connecting = async () => {
        const { dispatcher } = await connectionFor(new URL(url), false);
        // A pool has none: it opens connections by its own rules.
        (dispatcher as Connectable)[kConnect]?.(() => {});
      };
      connecting().catch(() => {});
    },
    close: async () => {
      for (const connection of connections.values()) await (await connection).dispatcher.destroy();
    },
  };
}

interface Connectable {
  [kConnect]?(connected: () => void): void;
}

interface Sendable extends Omit<HttpRequest, 'body'> {
  readonly body: string | UploadAttempt | undefined;
  readonly begin: ReturnType<typeof lifecycles>;
}

async function sendOver(
  { dispatcher, forwarded, interceptor, tlsError }: Connection,
  url: URL,
  { method, headers, body, effect = false, begin }: Sendable,
  options: HttpOptions,
): Promise<HttpResponse> {
  const streamed = typeof body === 'object' ? body : undefined;
  const life = begin(effect, () => !streamed?.unfinished());
  const response = await request
    .call(dispatcher.compose(interceptor, life.interceptor), {
      origin: url.origin,
      path: (forwarded?.prefix ?? '') + url.pathname + url.search,
      method,
      headers: { ...headers, ...streamed?.headers, ...forwarded?.headers },
      body: typeof body === 'object' ? body.chunks : body,
      signal: life.signal,
    })
    .catch((error: unknown) => {
      life.over();
      const left = life.left() && !(life.signal.aborted && streamed?.unfinished());
      throw (
        streamed?.error(error, url, options) ??
        networkError(stopped(life) ?? tlsError.last ?? error, url, left, options.timeout)
      );
    });
  if (forwarded && response.statusCode === 407) throw proxyAuthenticationError(url);
  const chunks = bodyOf(response.body, url, life, options.timeout);
  return {
    status: response.statusCode,
    headers: response.headers,
    body: streamed && response.statusCode >= 400 ? streamed.refusal(chunks) : chunks,
  };
}

/** An error with a code for a request that was aborted, which fails with whatever the reason is. */
function stopped({ signal }: Lifecycle): object | undefined {
  return signal.aborted ? { code: 'STOPPED' } : undefined;
}

async function* bodyOf(
  body: AsyncIterable<Uint8Array>,
  url: URL,
  life: Lifecycle,
  timeout: number,
): AsyncIterable<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    if (error instanceof TransportError) throw error;
    throw networkError(stopped(life) ?? error, url, true, timeout);
  } finally {
    life.over();
  }
}
