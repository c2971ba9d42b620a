// This file must not import anything, as every run of the program loads it and has to start quickly.

/** In characters. Longer addresses are refused before they are parsed or searched, which could take long. */
export const LONGEST_LINK = 4096;

/** Limits of a host name and of each of its labels (RFC 1035, 2.3.4). */
const LONGEST_HOST = 253;
const LONG_LABEL = /[^.]{64}/u;

/**
 * Returns the text before the host of an address, and the host with its port, both as written; both '' without a host.
 * The URL parser cannot be used, as `hasLongHost` guards it (URL Standard, 4.4, "authority state").
 */
export function splitHost(address: string): [before: string, host: string] {
  const [, scheme = '', authority = ''] =
    /^([a-z][a-z\d+.-]*:[/\\]*|[/\\]{2,})([^/\\?#]*)/i.exec(address) ?? [];
  const start = authority.lastIndexOf('@') + 1;
  return [scheme + authority.slice(0, start), authority.slice(start)];
}

/** Long hosts are not parsed, as the time of the URL parser grows with the square of the length of a label. */
export function hasLongHost(address: string): boolean {
  // The URL parser ignores spaces and control characters before an address, and all tabs and line ends.
  const [, host] = splitHost(address.replace(/^[^!-\uffff]+|[\t\n\r]/g, ''));
  const name = host.replace(/:\d*$/, '');
  return name.length > LONGEST_HOST || LONG_LABEL.test(name);
}

/**
 * Returns undefined for an invalid or too long address. Does not use `URL.canParse`: in Node.js 20.20, once optimized,
 * it rejects addresses with characters between U+0080 and U+00FF.
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
 * Normalizes an address from an instance before it is printed or saved. Percent-encodes characters with a meaning for a
 * shell (RFC 3986, 2.1). Returns undefined unless it is an absolute http(s) address without user name and password, of
 * at most `LONGEST_LINK` characters.
 */
export function webAddress(text: string | null | undefined): string | undefined {
  if (text == null || hasBlanks(text)) return undefined;
  const url = parseWebUrl(text);
  if (url === undefined || url.username || url.password) return undefined;
  // The brackets of an IPv6 host are not escaped.
  const [, origin = '', rest = ''] = /^(https?:\/\/(?:\[[^\]]*\])?)(.*)$/.exec(url.href) ?? [];
  const address = origin + rest.replace(/[^\w.~:/?#@%=&+,-]/g, escaped);
  // Escaping may make a label of the host too long.
  return address.length > LONGEST_LINK || !parseUrl(address) ? undefined : address;
}

/** Whether the text is one http or https address, without characters that a browser would remove. */
export function isWebAddress(text: string): boolean {
  return !hasBlanks(text) && /^https?:\/\//i.test(text) && parseUrl(text) !== undefined;
}

/**
 * Finds blanks, and characters without width and direction marks, which disguise an address. Tests for printable
 * ASCII first, as the engine loads its Unicode tables only for the second pattern.
 */
const hasBlanks = (text: string) => !/^[!-~]*$/.test(text) && /[\s\p{C}]/u.test(text);

/** `URL.href` is ASCII, so that each character is one byte. */
const escaped = (sign: string) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`;

/**
 * Whether a host is loopback: `localhost` and names below it (RFC 6761, 6.3), 127.0.0.0/8 (RFC 1122, 3.2.1.3), `::1`
 * (RFC 4291, 2.5.3), and IPv4-mapped addresses of the former (2.5.5.2).
 * @param host of a URL, or the address of a socket, in any spelling
 */
export function isLoopback(host: string): boolean {
  if (/[\s/?#@\\]/.test(host)) return false;
  // The URL parser normalizes spellings of IP addresses, such as `127.1`.
  const hostname = parseUrl(`http://${/^[^[].*:/.test(host) ? `[${host}]` : host}`)?.hostname;
  if (hostname === undefined) return false;
  return (
    isLocalhost(hostname) ||
    /^(?:127(?:\.\d+){3}|\[::1\]|\[::ffff:7f[\da-f]{2}:[\da-f]+\])$/.test(hostname)
  );
}

/** `localhost` and names below it are loopback, whatever DNS says (RFC 6761, 6.3). */
export function isLocalhost(name: string): boolean {
  return /^(?:.+\.)?localhost\.?$/i.test(name);
}

/** Returns the host without the brackets that an IPv6 address has in a URL. */
export function hostOf({ hostname }: Pick<URL, 'hostname'>): string {
  return hostname.replace(/^\[|\]$/g, '');
}

/** The unspecified address, at which a service may listen, becomes loopback. */
export function urlHost(host: string): string {
  // `::` becomes IPv4 too, as a container may have no IPv6 loopback.
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

/** Adds the scheme to an address without one: http for loopback, https otherwise. */
export function withScheme(text: string): string {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return text;
  const url = parseUrl(`http://${text}`);
  return `${url && isLoopback(url.hostname) ? 'http' : 'https'}://${text}`;
}

/** The link of a push as in the reference (docs/wire.md, "Tokens and addresses"); `/r` asks for a click first. */
export function pushLink(
  base: string,
  push: { readonly url_token: string; readonly retrieval_step?: unknown },
): string {
  return `${base}/p/${push.url_token}${push.retrieval_step ? '/r' : ''}`;
}

/** False for hosts such as `$(reboot).test` (URL Standard, 3.2), which are dangerous in a command to copy. */
export function isShellSafe(address: string): boolean {
  return /^[\w.:/[\]-]+$/.test(address);
}
