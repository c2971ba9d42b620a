import { BlockList, isIP, isIPv6 } from 'node:net';
import { invalidInput } from './service-errors';

/** Whether the X-Forwarded-* headers of who connects from an address are trusted. */
type Trusts = (ip: string | undefined) => boolean;

/**
 * @param proxies their addresses and networks, `true` for all
 * @throws ServiceError (input) for what is neither an address nor a network
 */
export function trustedProxies(proxies: boolean | readonly string[] = false): Trusts {
  if (typeof proxies === 'boolean') return () => proxies;
  const networks = new BlockList();
  for (const network of proxies) {
    const [, address = '', length] = /^([^/%]*)(?:\/(\d{1,3}))?$/.exec(network) ?? [];
    const most = isIPv6(address) ? 128 : 32;
    const bits = Number(length ?? most);
    if (isIP(address) === 0 || bits > most)
      throw invalidInput(`--trust-proxy must name networks such as 10.0.0.0/8, not "${network}"`);
    networks.addSubnet(address, bits, familyOf(address));
  }
  return (ip) => {
    const address = plainIp(ip);
    return address !== undefined && networks.check(address, familyOf(address));
  };
}

const familyOf = (address: string) => (isIPv6(address) ? 'ipv6' : 'ipv4');

const FORWARDED = ['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host'];

/**
 * Returns a function that removes X-Forwarded-* headers from requests of clients that are not trusted. It warns of the
 * first, as a proxy that is not trusted makes all its clients one.
 */
export function withoutForged(trusts: Trusts, warn: (message: string) => void) {
  let hasWarned = false;
  return ({ headers }: Request, ip: string | undefined): void => {
    if (trusts(ip)) return;
    if (!hasWarned && headers.has('x-forwarded-for')) {
      const from = ip ?? 'a Unix socket';
      warn(`X-Forwarded-For came from ${from}, which is not trusted: see --trust-proxy`);
      hasWarned = true;
    }
    for (const name of FORWARDED) headers.delete(name);
  };
}

/** Returns the address, an IPv4-mapped IPv6 address as IPv4; undefined when it is invalid. */
export function plainIp(text: string | undefined): string | undefined {
  const ip = text?.replace(/^::ffff:(?=[\d.]+$)/i, '');
  return ip && isIP(ip) !== 0 ? ip : undefined;
}
