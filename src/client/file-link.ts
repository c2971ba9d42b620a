import type { HeaderFields, HttpResponse, Transport } from '../context';
import { CliError, failedError } from '../errors';
import { parseUrl } from '../loopback';
import { header, retryAfter } from './transport/call';
import { TransportError } from './transport/network-errors';

/** The response of a file's link. */
export interface FileAnswer {
  /** Content-Length; undefined if absent. */
  readonly length: number | undefined;
  /** Iterating throws a `TransportError` when the response is truncated or stalls. */
  readonly body: AsyncIterable<Uint8Array>;
}

interface LinkSettings {
  /** The instance's base address. */
  readonly base: string;
  readonly token?: string | undefined;
  readonly headers?: HeaderFields | undefined;
  readonly userAgent: string;
  readonly send: Transport;
  readonly now: () => Date;
}

/** A link that did not answer with its file. */
export class LinkError extends CliError {
  /** Seconds to wait before another attempt; undefined if another is of no use. */
  readonly again: number | undefined;

  constructor(status: number, message: string, hint: string | undefined, again?: number) {
    super('failed', message, { status, hint });
    this.again = again;
  }
}

/**
 * Opens the link of a push's file (docs/wire.md, "File downloads"). The token and the user's headers are sent only
 * to the instance's own origin, and never after a redirect.
 * @throws LinkError for a response other than 200; TransportError; CliError for an address that is not followed
 */
export async function openLink(settings: LinkSettings, link: string): Promise<FileAnswer> {
  const url = parseLink(link, settings.base);
  const { base, token, headers: access } = settings;
  const own = url.origin === new URL(base).origin;
  const headers = {
    accept: '*/*',
    'accept-encoding': 'identity',
    'user-agent': settings.userAgent,
  };
  const response = await followRedirects(settings.send, url, headers, {
    ...(own ? access : {}),
    ...headers,
    ...(own && token !== undefined ? { authorization: `Bearer ${token}` } : {}),
  });
  if (response.status !== 200) {
    await discardBody(response.body);
    throw refused(response.status, retryAfter(header(response, 'retry-after'), settings.now()));
  }
  const length = header(response, 'content-length') ?? '';
  return { length: /^\d{1,15}$/.test(length) ? Number(length) : undefined, body: response.body };
}

function parseLink(link: string, base: string): URL {
  const url = parseUrl(link, base);
  if (url === undefined) throw failedError('the instance returned no valid link to it');
  if (url.protocol === 'https:' || (url.protocol === 'http:' && !base.startsWith('https:')))
    return url;
  throw failedError(
    `its link uses ${url.protocol} although the instance uses https; it was not followed`,
    { hint: 'a proxy in front of the instance must send it X-Forwarded-Proto' },
  );
}

function refused(status: number, retryAfter: number | undefined): LinkError {
  if (status === 429 || status >= 500)
    return new LinkError(status, `its link returned ${status}`, undefined, retryAfter ?? 0);
  const stale = [401, 403, 404, 410].includes(status);
  const why = stale ? 'it may have expired' : 'it is not a file';
  return new LinkError(status, `its link returned ${status}; ${why}`, undefined);
}

/** Seconds to wait before the link is worth another attempt; undefined if it is not. */
export function worthAnotherTry(error: unknown): number | undefined {
  if (error instanceof TransportError) return 0;
  return error instanceof LinkError ? error.again : undefined;
}

const MAX_REDIRECTS = 10;
/** Bytes of an unwanted body that are read so that its connection can be reused; a longer one closes it. */
const MAX_DISCARDED = 64 * 1024;

/**
 * GET, following up to 10 redirects to any host, but never from https to http.
 * @param first headers of the first request, which alone may hold a token or headers of the user; `headers` those of the others
 */
async function followRedirects(
  send: Transport,
  link: URL,
  headers: HeaderFields,
  first: HeaderFields,
): Promise<HttpResponse> {
  let current = link;
  for (let hop = 0; ; hop++) {
    const sent = hop === 0 ? first : headers;
    const url = current.href.slice(0, current.href.length - current.hash.length);
    const response = await send({ method: 'GET', url, headers: sent });
    const next = redirectTarget(response, current);
    if (next === undefined) return response;
    await discardBody(response.body);
    if (hop === MAX_REDIRECTS)
      throw failedError(`its link redirects more than ${MAX_REDIRECTS} times`);
    current = next;
  }
}

function redirectTarget(response: HttpResponse, from: URL): URL | undefined {
  const location = header(response, 'location');
  if (![301, 302, 303, 307, 308].includes(response.status) || location === undefined)
    return undefined;
  const to = parseUrl(location, from);
  if (to === undefined) throw failedError('its link redirects to an invalid address');
  if (to.protocol === 'https:' || (to.protocol === 'http:' && from.protocol === 'http:')) return to;
  throw failedError(
    `its link redirects from https to ${to.protocol}//${to.host}; it was not followed`,
  );
}

/** Drops a body: an unread one would block the next request to that host. */
export async function discardBody(body: AsyncIterable<Uint8Array>): Promise<void> {
  let read = 0;
  for await (const chunk of body) {
    read += chunk.byteLength;
    if (read > MAX_DISCARDED) return;
  }
}
