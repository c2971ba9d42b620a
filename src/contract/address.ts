// Addresses, for the client and the service. Imports nothing: every run loads it.

/** Bounds the length of every address: longer texts are refused before anything is looked for in them. */
export const LONGEST_LINK = 4096;

/** RFC 1035, 2.3.4, limits a host, and each of its labels. */
const LONGEST_HOST = 253;
const LONG_LABEL = /[^.]{64}/u;

/**
 * The text before the host of an address, and the host with its port, both as they are written. No parser finds them, as
 * they are measured before it (URL Standard, 4.4, "authority state"). Both are empty where there is no host.
 */
export function splitHost(address: string): [before: string, host: string] {
  const [, scheme = '', authority = ''] =
    /^([a-z][a-z\d+.-]*:[/\\]*|[/\\]{2,})([^/\\?#]*)/i.exec(address) ?? [];
  const start = authority.lastIndexOf('@') + 1;
  return [scheme + authority.slice(0, start), authority.slice(start)];
}

/** Whether a parser could take long for the host of an address: its time grows with the square of a label. */
export function hasLongHost(address: string): boolean {
  // The parser removes the spaces and control characters before an address, and tabs and line ends within it.
  const [, host] = splitHost(address.replace(/^[^!-\uffff]+|[\t\n\r]/g, ''));
  const name = host.replace(/:\d*$/, '');
  return name.length > LONGEST_HOST || LONG_LABEL.test(name);
}

/**
 * Parses an address; undefined if it is invalid or too long. Not by `URL.canParse`: in Node 20.20, once optimized, it rejects
 * addresses with characters between U+0080 and U+00FF.
 */
export function parseUrl(text: string, base?: string | URL): URL | undefined {
  if (text.length > LONGEST_LINK || hasLongHost(text)) return undefined;
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}

/** Returns undefined also for schemes other than http and https. */
export function parseWebUrl(text: string, base?: string | URL): URL | undefined {
  const url = parseUrl(text, base);
  return url?.protocol === 'https:' || url?.protocol === 'http:' ? url : undefined;
}

/**
 * An address that an instance chose, in the one form in which it is printed and saved: an absolute http(s) address
 * without a user name, of at most `LONGEST_LINK` characters. Characters with a meaning for a shell are escaped (RFC
 * 3986, 2.1). Undefined for anything else.
 */
export function webAddress(text: string | null | undefined): string | undefined {
  if (text == null || hasBlanks(text)) return undefined;
  const url = parseWebUrl(text);
  if (url === undefined || url.username || url.password) return undefined;
  // The host of an IPv6 address keeps its brackets.
  const [, origin = '', rest = ''] = /^(https?:\/\/(?:\[[^\]]*\])?)(.*)$/.exec(url.href) ?? [];
  const address = origin + rest.replace(/[^\w.~:/?#@%=&+,-]/g, escaped);
  // A label of the host may be too long once it is escaped.
  return address.length > LONGEST_LINK || !parseUrl(address) ? undefined : address;
}

/** Printable ASCII is looked for first, as the tables of Unicode take a while to load. */
const hasBlanks = (text: string) => !/^[!-~]*$/.test(text) && /[\s\p{C}]/u.test(text);

/** `href` is ASCII, so that a sign is one byte. */
const escaped = (sign: string) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`;

/**
 * Whether a host is loopback: `localhost` and names below it (RFC 6761, 6.3), 127.0.0.0/8 (RFC 1122, 3.2.1.3), `::1`
 * (RFC 4291, 2.5.3), and IPv4-mapped addresses of the former (2.5.5.2).
 * @param host of a URL, or the address of a socket, in any spelling
 */
export function isLoopback(host: string): boolean {
  if (/[\s/?#@\\]/.test(host)) return false;
  // The parser gives each address one spelling.
  const hostname = parseUrl(`http://${/^[^[].*:/.test(host) ? `[${host}]` : host}`)?.hostname;
  if (hostname === undefined) return false;
  return (
    isLocalhost(hostname) ||
    /^(?:127(?:\.\d+){3}|\[::1\]|\[::ffff:7f[\da-f]{2}:[\da-f]+\])$/.test(hostname)
  );
}

/** Whether a name is loopback by definition, whatever DNS says (RFC 6761, 6.3). */
export function isLocalhost(name: string): boolean {
  return /^(?:.+\.)?localhost\.?$/i.test(name);
}

/** "Any address" becomes loopback. */
export function urlHost(host: string): string {
  // `::` becomes IPv4 too: a container may have no IPv6 at all.
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

/** Adds the scheme to an address without one: http for loopback, https otherwise. */
export function withScheme(text: string): string {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return text;
  const url = parseUrl(`http://${text}`);
  return `${url && isLoopback(url.hostname) ? 'http' : 'https'}://${text}`;
}

/** The link of a push as the reference builds it (docs/wire.md, "Tokens and addresses"); `/r` asks for a click first. */
export function pushLink(
  base: string,
  push: { readonly url_token: string; readonly retrieval_step?: unknown },
): string {
  return `${base}/p/${push.url_token}${push.retrieval_step ? '/r' : ''}`;
}

/** A host may be named `$(reboot).test` (URL Standard, 3.2): a command that is copied to a shell must not contain it. */
export function isShellSafe(address: string): boolean {
  return /^[\w.:/[\]-]+$/.test(address);
}
