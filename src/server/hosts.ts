import type { Server } from 'node:http';
import { isIP } from 'node:net';
import { lazy } from '../lazy';
import { isLocalhost, isLoopback } from '../loopback';

/** What most requests name, matched first because parsing a URL takes longer. */
const usualHost = /^https?:\/\/(?:localhost|127\.0\.0\.1)(?::\d{1,5})?\//;

/**
 * Detects requests that name a foreign host while the server listens on loopback: DNS rebinding, by which a page of
 * another site reaches a local service. Not foreign are IP addresses, names of this machine (RFC 6761, 6.3), and `own`.
 */
export function foreignHosts(server: Server, own: string): (url: string) => boolean {
  const isLocal = lazy(() => listensOnLoopback(server));
  return (url) => {
    if (!isLocal() || usualHost.test(url)) return false;
    const name = new URL(url).hostname.replace(/^\[(.*)\]$/, '$1');
    return isIP(name) === 0 && !isLocalhost(name) && name !== own;
  };
}

function listensOnLoopback(server: Server): boolean {
  const address = server.address();
  if (address === null || typeof address === 'string') return false;
  return isLoopback(address.address);
}
