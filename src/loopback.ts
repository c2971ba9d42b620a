// What this machine's own hosts are, for the client and the service. It imports nothing: every run loads it.

/**
 * Whether a host is this machine alone: `localhost` and names that end in it (RFC 6761, 6.3), 127.0.0.0/8 (RFC 1122,
 * 3.2.1.3), `::1` (RFC 4291, 2.5.3), and the former as an IPv6 address (2.5.5.2).
 * @param host of a URL, or the address of a socket, in any of its spellings
 */
export function isLoopback(host: string): boolean {
  const url = `http://${/^[^[].*:/.test(host) ? `[${host}]` : host}`;
  if (/[\s/?#@\\]/.test(host) || !URL.canParse(url)) return false;
  // In a URL each address has one spelling.
  const { hostname } = new URL(url);
  return (
    isLocalhost(hostname) ||
    /^(?:127(?:\.\d+){3}|\[::1\]|\[::ffff:7f[\da-f]{2}:[\da-f]+\])$/.test(hostname)
  );
}

/** Whether a name is this machine's by definition, whatever DNS says (RFC 6761, 6.3). */
export function isLocalhost(name: string): boolean {
  return /^(?:.+\.)?localhost\.?$/i.test(name);
}

/** An address typed without its scheme is https, on this machine http. */
export function withScheme(text: string): string {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return text;
  try {
    return isLoopback(new URL(`http://${text}`).hostname) ? `http://${text}` : `https://${text}`;
  } catch {
    return `https://${text}`;
  }
}
