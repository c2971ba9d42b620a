import type { Server } from 'node:http';
import { isIP } from 'node:net';
import { isLocalhost, isLoopback } from '../../loopback';

/** Unreserved characters (RFC 3986, 2.3) that are escaped, segments of dots, and a fragment. */
const rewritten = /%(?:2[de]|3\d|[46][1-9a-f]|[57][\da]|5f|7e)|\/\.{1,2}(?:\/|$)|#/i;

/**
 * Whether the path of a request is in the form that routes have. Any other is made normal on its way to them, so that a
 * proxy that allows some paths, and compares them as they came, would let through what it does not allow.
 */
export function isNormal(target = ''): boolean {
  const [path = ''] = target.replace(/^https?:\/\/[^/?]*/i, '').split('?');
  return !rewritten.test(path);
}

/** What most requests name; to parse an address takes a while. */
const usual = /^https?:\/\/(?:localhost|127\.0\.0\.1)(?::\d{1,5})?\//;

/**
 * Tells requests that name a host of somebody else from our own, where the server listens on loopback: a name that
 * leads a browser there is how the page of another site gets at the service (DNS rebinding). Own is what is an address,
 * what always means this machine (RFC 6761, 6.3), and the name to listen on.
 */
export function foreignHosts(server: Server, own: string | undefined): (url: string) => boolean {
  let local: boolean | undefined;
  return (url) => {
    local ??= isOnLoopback(server);
    if (!local || usual.test(url)) return false;
    const name = new URL(url).hostname.replace(/^\[(.*)\]$/, '$1');
    return isIP(name) === 0 && !isLocalhost(name) && name !== own;
  };
}

function isOnLoopback(server: Server): boolean {
  const address = server.address();
  if (address === null || typeof address === 'string') return false;
  return isLoopback(address.address);
}
