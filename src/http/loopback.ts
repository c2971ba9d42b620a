/** Whether a URL's host is this machine (RFC 6761 6.3, RFC 5735 3, RFC 4291 2.5.3). */
export function isLoopback(url: URL): boolean {
  const host = url.hostname.toLowerCase();
  return (
    host === 'localhost' ||
    host.endsWith('.localhost') ||
    host === '[::1]' ||
    /^127(\.\d{1,3}){3}$/.test(host)
  );
}

/** An address typed without its scheme is https, on this machine http. */
export function withScheme(text: string): string {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return text;
  try {
    return isLoopback(new URL(`http://${text}`)) ? `http://${text}` : `https://${text}`;
  } catch {
    return `https://${text}`;
  }
}
