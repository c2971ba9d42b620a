import type { Server } from 'node:http';
import { isIP } from 'node:net';
import { domainToUnicode } from 'node:url';
import { isLocalhost, isLoopback, parseUrl } from '../contract/address';
import { lazy } from '../contract/lazy';

/** The hosts of most requests, matched first because parsing a URL takes longer. */
const usualHost = /^https?:\/\/(?:localhost|127\.0\.0\.1)(?::\d{1,5})?\//;

/**
 * Returns the status for a request whose URL names a wrong host. 400: the host is invalid, such as `999.999.1.1`. 421:
 * it is foreign while the server listens on loopback, which is DNS rebinding, by which a page of another site reaches a
 * local service. IP addresses, names of this machine (RFC 6761, 6.3) and `own` are not foreign.
 * @param own the host of this service; undefined where requests may name any host
 */
export function hostProblems(
  server: Server,
  own: string | undefined,
): (url: string) => 400 | 421 | undefined {
  const isLocal = lazy(() => {
    const address = own === undefined ? null : server.address();
    return typeof address === 'object' && address !== null && isLoopback(address.address);
  });
  return (url) => {
    if (usualHost.test(url)) return undefined;
    // Only the origin is parsed, as `parseUrl` rejects long addresses.
    const name = parseUrl(url.split('/', 3).join('/'))?.hostname.replace(/^\[(.*)\]$/, '$1');
    if (name === undefined || isUndecodable(name)) return 400;
    const isForeign = isIP(name) === 0 && !isLocalhost(name) && name !== own;
    return isForeign && isLocal() ? 421 : undefined;
  };
}

/** The URL parser of Node.js 24 accepts `xn--` labels that are not valid Punycode. */
function isUndecodable(name: string): boolean {
  const encoded = /(^|\.)xn--/;
  return encoded.test(name) && encoded.test(domainToUnicode(name));
}
