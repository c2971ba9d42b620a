import { isIPv6 } from 'node:net';
import type { MiddlewareHandler } from 'hono';
import { isLoopback } from '../../contract/address';
import { ServiceRefusal } from '../service-errors';
import type { CheckedSettings, RateLimit } from '../service-settings';
import { Buckets } from '../shares';
import type { Env } from './env';
import { ipOf } from './request-origin';

/** Refuses requests of addresses that exceed the rate limit (429). Each process counts separately. */
export function limited(
  { rateLimit }: Pick<CheckedSettings, 'rateLimit'>,
  now: () => Date,
): MiddlewareHandler<Env> {
  if (!rateLimit) return (_, next) => next();
  const buckets = new Buckets(rateLimit);
  return async (c, next) => {
    const ip = ipOf(c.req.raw, c.env);
    if (rateLimit.sparesLoopback && isHere(ip)) return next();
    const wait = buckets.take(networkOf(ip ?? ''), now().getTime());
    if (wait === 0) return next();
    const retryAfter = Math.max(1, Math.ceil(wait / 1000));
    throw new ServiceRefusal('too_many', 'Too many requests. Try again later.', { retryAfter });
  };
}

/** Returns the network whose share of limited resources an address counts against; undefined if exempt or unknown. */
export function clientOf(ip: string | null, rateLimit: RateLimit | undefined): string | undefined {
  if (ip === null || ((rateLimit?.sparesLoopback ?? true) && isHere(ip))) return undefined;
  return networkOf(ip);
}

/**
 * Returns the /64 network of an IPv6 address, as one client may have all its 2^64 addresses. Returns an IPv4 address
 * itself, also if it is mapped (RFC 4291, 2.5.5.2) or translated by NAT64 (RFC 6052, 2.1) into one network.
 */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  // A URL normalizes an IPv6 address to hexadecimal groups, and must not contain a zone.
  const { hostname } = new URL(`http://[${address.split('%')[0]}]`);
  const [before = [], after = []] = hostname
    .slice(1, -1)
    .split('::')
    .map((part) => part.split(':').filter(Boolean));
  const between = Array<string>(8 - before.length - after.length).fill('0');
  const groups = [...before, ...between, ...after];
  if (!OF_IPV4.has(groups.slice(0, 6).join(':'))) return groups.slice(0, 4).join(':');
  const last = groups.slice(6).map((group) => group.padStart(4, '0'));
  return Buffer.from(last.join(''), 'hex').join('.');
}

const OF_IPV4 = new Set(['0:0:0:0:0:ffff', '64:ff9b:0:0:0:0']);

/** Whether a client is on this machine. A client of a Unix domain socket has no address. */
function isHere(ip: string | null): boolean {
  return ip === null || isLoopback(ip);
}
