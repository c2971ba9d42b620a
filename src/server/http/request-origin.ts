import { parseUrl } from '../../contract/address';
import type { Abandonable } from '../queues';
import { malformed, ServiceRefusal } from '../service-errors';
import type { ServiceSettings } from '../service-settings';
import { plainIp } from '../trusted-proxies';

/** The parts of a connection that a `Request` lacks; all undefined without a socket. */
export interface ClientSocket {
  readonly ip?: string | undefined;
  /** The body with back-pressure; reading it sends `100 Continue` to a client that waits for it. */
  readonly body?: (() => AsyncIterable<Uint8Array>) | undefined;
  /** Lifts the time limit of the body when its sender was accepted (`liftLimit`). */
  readonly accept?: (() => void) | undefined;
  /** Calls the listener once, when the response has been sent or the connection closed. */
  readonly closed?: ((listener: () => void) => void) | undefined;
  readonly cut?: (() => void) | undefined;
  /** Called with the hash of an `Idempotency-Key`, as `Visitor.kept` is. */
  readonly kept?: ((key: string) => void) | undefined;
  /**
   * Ends the connection after the response, which may begin once this resolves. Calls the listener once, with true if
   * the client has received the response, and so ended the connection too.
   */
  readonly received?: ((listener: (whole: boolean) => void) => Promise<void>) | undefined;
  /** Replaces the signal of the `Request`, for which Node.js would create an event target. */
  readonly signal?: Abandonable | undefined;
}

export type CallerSettings = Pick<ServiceSettings, 'publicUrl'>;

/** The base URL of links, without a final slash. */
export function baseOf(request: Request, { publicUrl }: CallerSettings): string {
  if (publicUrl) return publicUrl;
  const url = new URL(request.url);
  const scheme = forwardedScheme(request) ?? url.protocol.slice(0, -1);
  const host = lastHop(request, 'x-forwarded-host');
  const plain = /^(?:[\w.-]+|\[[\da-f:]+\])(?::\d{1,5})?$/i.test(host);
  const named = plain ? parseUrl(`${scheme}://${host}`) : undefined;
  // A key proof contains the address, which browsers write in lower case and without the default port.
  return (named ?? new URL(`${scheme}://${url.host}`)).origin;
}

/** Whether the client uses https, to this server or to the proxy. */
export function isSecure(request: Request, { publicUrl }: CallerSettings): boolean {
  const address = publicUrl ?? request.url;
  return address.startsWith('https:') || forwardedScheme(request) === 'https';
}

/** The client's address; null when it is unknown. */
export function ipOf(request: Request, { ip }: ClientSocket): string | null {
  return forwardedFor(request) ?? plainIp(ip) ?? null;
}

/**
 * Returns the API token of `Authorization: Bearer`, or of `Authorization: Token` and `X-User-Token` as in API v1
 * (docs/wire.md, "Endpoints"). Returns '' for an empty header; with another scheme, only `X-User-Token` counts.
 */
export function tokenIn(authorization?: string, userToken?: string) {
  const match = /^(?:Bearer|Token)(?:\s+(.*))?$/i.exec(authorization ?? '');
  if (match) return (match[1] ?? '').trim();
  return userToken?.trim();
}

/**
 * Returns the `Idempotency-Key`, a string of RFC 8941, 3.3.3 (draft-ietf-httpapi-idempotency-key-header).
 * @throws ServiceRefusal when the header is not such a string, or is too short and can be guessed
 */
export function idempotencyKey({ headers }: Request): string | undefined {
  const value = headers.get('idempotency-key')?.trim();
  if (value === undefined) return undefined;
  const [, text] = /^"((?:[ !#-[\]-~]|\\["\\]){16,255})"$/.exec(value) ?? [];
  if (text !== undefined) return text;
  throw malformed('Idempotency-Key must be 16 to 255 random characters in double quotes.');
}

/** Whether a browser prefetches the page, which must not use a view. */
export function isPrefetch(request: Request): boolean {
  // Browsers mark a prefetch by different headers; the previews of Safari send X-Purpose.
  const names = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'];
  return names.some((name) => /prefetch|preview/i.test(request.headers.get(name) ?? ''));
}

/**
 * Whether a browser opens the page in a tab (W3C, Fetch Metadata). Programs that fetch links for a preview or a scan do
 * not say so. Neither do browsers over plain http, and those from before 2023.
 */
export function isNavigation({ headers }: Request): boolean {
  const mark = `${headers.get('sec-fetch-mode')} ${headers.get('sec-fetch-dest')}`;
  return mark === 'navigate document';
}

/** @throws ServiceRefusal when a browser sends the request on behalf of another site */
export function refuseCrossSite(request: Request, settings: CallerSettings): void {
  if (isCrossSite(request, baseOf(request, settings)))
    throw new ServiceRefusal('forbidden', 'A page of another site cannot do this.');
}

export function isCrossSite(request: Request, base: string): boolean {
  const site = request.headers.get('sec-fetch-site');
  if (site !== null) return /cross-site/i.test(site);
  // Browsers omit Sec-Fetch-Site over plain http. For other media types they send a CORS preflight, which fails.
  const type = request.headers.get('content-type') ?? 'text/plain';
  if (!/^(multipart\/form-data|application\/x-www-form-urlencoded|text\/plain)\b/i.test(type))
    return false;
  const origin = request.headers.get('origin');
  return origin !== null && origin !== new URL(base).origin;
}

/**
 * Whether a form may come from one of our pages. With `no-referrer`, browsers send `Origin: null` for our own forms, so
 * that without Sec-Fetch-Site (plain http) only an explicit foreign origin can be detected.
 */
export function isOwnForm(request: Request, base: string): boolean {
  const site = request.headers.get('sec-fetch-site');
  if (site !== null) return site === 'same-origin' || site === 'none';
  const origin = request.headers.get('origin');
  return origin === null || origin === 'null' || origin === new URL(base).origin;
}

/** Returns the last value, which the trusted proxy has added; the client may have forged earlier ones. */
function lastHop(request: Request, name: string): string {
  return (request.headers.get(name) ?? '').split(',').at(-1)?.trim() ?? '';
}

/** Schemes are case-insensitive (RFC 3986, 3.1). */
function forwardedScheme(request: Request): string | undefined {
  return /^https?$/.exec(lastHop(request, 'x-forwarded-proto').toLowerCase())?.[0];
}

function forwardedFor(request: Request): string | undefined {
  const hop = lastHop(request, 'x-forwarded-for');
  // Some proxies add the port: 192.0.2.1:80, [2001:db8::1]:80.
  return plainIp(hop.replace(/^\[(.*)\](?::\d+)?$/, '$1').replace(/^([\d.]+):\d+$/, '$1'));
}
