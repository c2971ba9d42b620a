import { BlockList, isIP } from 'node:net';
import { isLoopback, parseWebUrl } from '../../contract/address';
import { lazy } from '../../contract/lazy';

/** An issuer, and whether it and its keys may be in a private network. */
export interface Issuer {
  readonly issuer: string;
  readonly privateIssuer: boolean;
}

/**
 * Returns where the configuration and the keys of an issuer may be: at https addresses outside of private networks, in
 * these with `privateIssuer`, and on this machine, by http too, if the issuer itself is there.
 */
export function reachOf({ issuer, privateIssuer }: Issuer) {
  const isHere = isLoopback(hostOf(parseWebUrl(issuer)));
  /** Whether no connection may be made to an address of IPv4 or IPv6. */
  const refuses = (address: string) =>
    !privateIssuer && isPrivate(address) && !(isHere && isLoopback(address));
  return {
    refuses,
    /** Returns the URL if it may be fetched, as far as it says so itself: names are not resolved. */
    allowed(text: unknown): string | undefined {
      const url = typeof text === 'string' ? parseWebUrl(text) : undefined;
      if (!url || url.username || url.password) return undefined;
      const host = hostOf(url);
      if (isLoopback(host)) return isHere || privateIssuer ? url.href : undefined;
      return url.protocol === 'https:' && !(isIP(host) && refuses(host)) ? url.href : undefined;
    },
  };
}

function hostOf(url: URL | undefined): string {
  return url?.hostname.replace(/^\[|\]$/g, '') ?? '';
}

/** Networks of IPv4 that are not public (IANA IPv4 Special-Purpose Address Registry), and multicast. */
const PRIVATE_IPV4 = [
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24',
  '192.168.0.0/16 198.18.0.0/15 224.0.0.0/3',
];

/** The same of IPv6, local NAT64 (RFC 8215), and 6to4 and Teredo, which lead to addresses of IPv4. */
const PRIVATE_IPV6 = '::/127 64:ff9b:1::/48 2001::/32 2002::/16 fc00::/7 fe80::/9 ff00::/8';

const privateNetworks = lazy(() => {
  const list = new BlockList();
  const pairs = (text: string) => text.split(' ').map((network) => network.split('/'));
  for (const [network = '', bits] of PRIVATE_IPV4.flatMap(pairs)) {
    list.addSubnet(network, Number(bits), 'ipv4');
    // NAT64 (RFC 6052, 2.1). The list finds addresses of IPv4 that are mapped (RFC 4291, 2.5.5.2) itself.
    list.addSubnet(`64:ff9b::${network}`, 96 + Number(bits), 'ipv6');
  }
  for (const [network = '', bits] of pairs(PRIVATE_IPV6))
    list.addSubnet(network, Number(bits), 'ipv6');
  return list;
});

/** Whether an address is of a private network, or none at all. */
function isPrivate(address: string): boolean {
  const [plain = ''] = address.split('%');
  const family = isIP(plain);
  return family === 0 || privateNetworks().check(plain, family === 4 ? 'ipv4' : 'ipv6');
}
