import { isIP } from 'node:net';
import { parseUrl } from '../../loopback';
import type { Origin } from '../store/audit-rows';

/** What the socket knows of a request and its headers do not; nothing of it is there without a socket. */
export interface Connection {
  readonly ip?: string | undefined;
  /** The body as it comes, no faster than it is read; reading it asks a client that waits (100 Continue) to send. */
  readonly body?: (() => AsyncIterable<Uint8Array>) | undefined;
  /** Calls that once when the answer has been sent, or the connection has been closed. */
  readonly closed?: ((listener: () => void) => void) | undefined;
  /** Ends the connection at once. */
  readonly cut?: (() => void) | undefined;
}

export interface CallerSettings {
  readonly publicUrl?: string | undefined;
  /** Whether X-Forwarded-* come from a proxy of ours rather than from anybody. */
  readonly trustProxy: boolean;
}

const HEADER_CHARACTERS = 1024;

/** The address links begin with, without a final slash. */
export function baseOf(request: Request, { publicUrl, trustProxy }: CallerSettings): string {
  if (publicUrl) return publicUrl;
  const url = new URL(request.url);
  if (!trustProxy) return url.origin;
  const scheme = first(request, 'x-forwarded-proto');
  const host = first(request, 'x-forwarded-host');
  const origin = `${/^https?$/.test(scheme) ? scheme : url.protocol.slice(0, -1)}://`;
  const plain = /^(?:[\w.-]+|\[[\da-f:]+\])(?::\d{1,5})?$/i.test(host);
  return origin + (plain && parseUrl(`http://${host}`) ? host : url.host);
}

/** Whether a browser came by https, here or to the proxy. */
export function isSecure(request: Request, { publicUrl, trustProxy }: CallerSettings): boolean {
  const [address, forwarded] = [publicUrl ?? request.url, first(request, 'x-forwarded-proto')];
  return address.startsWith('https:') || (trustProxy && forwarded === 'https');
}

/** The address that the request came from; null when it is not known. */
export function ipOf(
  request: Request,
  { ip }: Connection,
  { trustProxy }: CallerSettings,
): string | null {
  return (trustProxy && forwardedFor(request)) || plainIp(ip) || null;
}

/** Where the request came from, for the audit log. */
export function originOf(
  request: Request,
  connection: Connection,
  settings: CallerSettings,
): Origin {
  return {
    ip: ipOf(request, connection, settings),
    userAgent: header(request, 'user-agent'),
    referrer: header(request, 'referer'),
  };
}

/**
 * The API token of the request, '' when its header is empty: of `Authorization: Bearer`, or as clients of API v1 send
 * it, `Authorization: Token` and `X-User-Token` (docs/wire.md, "Endpoints"). Nothing with another scheme.
 */
export function apiToken(request: Request): string | undefined {
  const match = /^(?:Bearer|Token)(?:\s+(.*))?$/i.exec(request.headers.get('authorization') ?? '');
  if (match) return (match[1] ?? '').trim();
  return request.headers.get('x-user-token')?.trim();
}

/** Programs of chats, mail and search that fetch a link which somebody has sent, before anybody opens it. */
const previewers = new RegExp(
  [
    'Slackbot|Slack-ImgProxy|Twitterbot|facebookexternalhit|Facebot|meta-externalagent|WhatsApp/',
    'TelegramBot|Discordbot|LinkedInBot|SkypeUriPreview|MicrosoftPreview|Mattermost-Bot|Rocket\\.Chat',
    'ZulipURL|Synapse|Viber|Snap URL Preview|Iframely|Embedly|redditbot|Pinterestbot|vkShare',
    'Mastodon|Pleroma|Cardyb|Googlebot|GoogleOther|GoogleImageProxy|Google-[A-Z]|Applebot|bingbot',
    'BingPreview|YandexBot|DuckDuckBot|Bytespider|PetalBot',
  ].join('|'),
  'i',
);

/** Whether somebody asks ahead of the recipient, who may never look: their browser, or a program that makes a preview. */
export function isPrefetch(request: Request): boolean {
  if (previewers.test(request.headers.get('user-agent') ?? '')) return true;
  // As browsers say it, and said it; Safari's previews name X-Purpose.
  const names = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'];
  return names.some((name) => /prefetch|preview/i.test(request.headers.get(name) ?? ''));
}

/** Whether a browser sends the request for a page of another site. */
export function isCrossSite(request: Request): boolean {
  return /cross-site/i.test(request.headers.get('sec-fetch-site') ?? '');
}

/**
 * Whether a form may come from a page of ours. Under `no-referrer` browsers send `Origin: null` for our own
 * forms, so without Sec-Fetch-Site (plain http) only a foreign origin that names itself can be told.
 */
export function isOwnForm(request: Request, base: string): boolean {
  const site = request.headers.get('sec-fetch-site');
  if (site !== null) return site === 'same-origin' || site === 'none';
  const origin = request.headers.get('origin');
  return origin === null || origin === 'null' || origin === new URL(base).origin;
}

function header(request: Request, name: string): string | null {
  return request.headers.get(name)?.slice(0, HEADER_CHARACTERS) ?? null;
}

function first(request: Request, name: string): string {
  return request.headers.get(name)?.split(',')[0]?.trim() ?? '';
}

/** The last hop, which our proxy added; whatever stands before it anybody may have made up. */
function forwardedFor(request: Request): string | undefined {
  const hop = (request.headers.get('x-forwarded-for') ?? '').split(',').at(-1)?.trim();
  // Some add the port: 192.0.2.1:80, [2001:db8::1]:80.
  return plainIp(hop?.replace(/^\[(.*)\](?::\d+)?$/, '$1').replace(/^([\d.]+):\d+$/, '$1'));
}

/** The address, IPv4 in its own form even where the socket speaks IPv6; nothing when it is none. */
export function plainIp(text: string | undefined): string | undefined {
  const ip = text?.replace(/^::ffff:(?=[\d.]+$)/i, '');
  return ip && isIP(ip) !== 0 ? ip : undefined;
}
