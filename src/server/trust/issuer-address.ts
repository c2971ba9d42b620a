import { isIP } from 'node:net';
import { hostOf, isLoopback, parseWebUrl } from '../../contract/address';
import type { TrustSummary } from '../../contract/api';
import { invalidInput } from '../service-errors';
import { trustedProxies } from '../trusted-proxies';

/** An issuer, and whether it and its keys may be in a private network. */
export type Issuer = Pick<TrustSummary, 'issuer' | 'private_issuer'>;

/**
 * Checks an issuer, which `iss` of its tokens must equal in all characters.
 * @throws ServiceError (usage)
 */
export function checkIssuer({ issuer, private_issuer }: Issuer): void {
  const href = reachOf({ issuer, private_issuer: true }).allowed(issuer);
  // Another spelling of the URL would equal no `iss`, and not be found among those that are shared.
  const isSpelled = href === issuer || href === `${issuer}/`;
  if (!isSpelled || /[?#]/.test(issuer) || issuer.length > 255)
    throw invalidInput(
      '--issuer must be an https URL as "iss" has it, without a user, a query and a fragment',
      isSpelled || href === undefined
        ? undefined
        : `it is written ${href.replace(/\/$/, issuer.endsWith('/') ? '/' : '')}`,
    );
  if (!reachOf({ issuer, private_issuer }).allowed(issuer))
    throw invalidInput(`${issuer} is in a private network`, '--private-issuer allows that');
}

/**
 * Returns where the configuration and the keys of an issuer may be: at https addresses outside of private networks, in
 * these with `private_issuer`, and on this machine, by http too, if the issuer itself is there.
 */
export function reachOf({ issuer, private_issuer }: Issuer) {
  const own = parseWebUrl(issuer);
  const isHere = own !== undefined && isLoopback(hostOf(own));
  /** Whether no connection may be made to an address of IPv4 or IPv6. */
  const refuses = (address: string) =>
    !private_issuer && isPrivate(address) && !(isHere && isLoopback(address));
  return {
    refuses,
    /** Returns the URL if it may be fetched, as far as it says so itself: names are not resolved. */
    allowed(text: unknown): string | undefined {
      const url = typeof text === 'string' ? parseWebUrl(text) : undefined;
      if (!url || url.username || url.password) return undefined;
      const host = hostOf(url);
      if (isLoopback(host)) return isHere || private_issuer ? url.href : undefined;
      return url.protocol === 'https:' && !(isIP(host) && refuses(host)) ? url.href : undefined;
    },
  };
}

/** Networks that a name of the internet does not lead to (IANA special-purpose registries, RFC 6890). */
const PRIVATE_IPV4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.168.0.0/16', '198.18.0.0/15', '224.0.0.0/3'],
];

const isInPrivate = trustedProxies([
  ...PRIVATE_IPV4,
  // The same through NAT64 (RFC 6052, 2.1), and all that 6to4 and Teredo lead to.
  ...PRIVATE_IPV4.map((network) =>
    network.replace(/^(.*)\/(.*)$/, (_, ip, bits) => `64:ff9b::${ip}/${96 + +bits}`),
  ),
  ...['::/96', '64:ff9b:1::/48', '100::/64', '2001::/32', '2002::/16'],
  ...['fc00::/7', 'fe80::/9', 'ff00::/8'],
]);

/** Whether an address is of this machine or of a private network, or not valid. */
function isPrivate(address: string): boolean {
  const ip = address.replace(/%.*$/, '');
  return isIP(ip) === 0 || isInPrivate(ip);
}
