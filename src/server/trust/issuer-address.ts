import { isLoopback } from '../../contract/address';
import { trustedProxies } from '../trusted-proxies';

/** Networks that a name of the internet does not lead to (IANA special-purpose registries, RFC 6890). */
const isInPrivate = trustedProxies([
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.168.0.0/16', '198.18.0.0/15', '224.0.0.0/3'],
  ...['::/96', '64:ff9b:1::/48', '100::/64', 'fc00::/7', 'fe80::/9', 'ff00::/8'],
]);

/** Whether an address, such as one that a name resolved to, is one of this machine or of a private network. */
export const isPrivateAddress = (ip: string): boolean => isInPrivate(ip);

/**
 * Returns what is wrong with an address that an issuer has, or names for its keys: it must be https, or loopback, and of
 * a private network only where that is allowed. What a name resolves to is not looked up here.
 */
export function faultOfAddress(url: string, allowsPrivate: boolean): string | undefined {
  const { protocol, hostname, username, password, hash } = new URL(url);
  if (username !== '' || password !== '' || hash !== '') return 'has a user or a fragment';
  if (isLoopback(hostname)) return /^https?:$/.test(protocol) ? undefined : 'is not https';
  if (protocol !== 'https:') return 'is not https';
  const ip = hostname.replace(/^\[(.*)\]$/, '$1');
  if (!allowsPrivate && isPrivateAddress(ip)) return 'is of a private network';
  return undefined;
}
