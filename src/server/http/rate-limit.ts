import { isIPv6 } from 'node:net';
import type { MiddlewareHandler } from 'hono';
import { isLoopback } from '../../loopback';
import { Refusal } from '../refusal';
import type { Rate, RateLimit } from '../service-settings';
import { ipOf } from './caller';
import type { AppSettings, Env } from './parts';

/** Refuses requests of addresses that ask too often (429); each process counts for itself. */
export function limited(settings: AppSettings, now: () => Date): MiddlewareHandler<Env> {
  const { rateLimit } = settings;
  if (!rateLimit) return (_, next) => next();
  const buckets = new Buckets(rateLimit);
  return async (c, next) => {
    const ip = ipOf(c.req.raw, c.env, settings);
    if (rateLimit.sparesLoopback && isHere(ip)) return next();
    const wait = buckets.take(ip ?? '', now().getTime());
    if (wait === 0) return next();
    const retryAfter = Math.max(1, Math.ceil(wait / 1000));
    throw new Refusal('too_many', 'Too many requests. Try again later.', { retryAfter });
  };
}

/** Whose share of what is limited an address gets: its network's; nothing where no share applies, as on this machine. */
export function clientOf(ip: string | null, rateLimit: RateLimit | undefined): string | undefined {
  if (ip === null || ((rateLimit?.sparesLoopback ?? true) && isHere(ip))) return undefined;
  return networkOf(ip);
}

interface Bucket {
  /** Milliseconds that were missing to a full one at that time. */
  readonly owed: number;
  readonly at: number;
}

/** What each address may still ask for. */
export class Buckets {
  /**
   * Who asked last stands last. To have one's own forgotten while it is not full takes a request each of as many
   * others as there is room for, who all have a bucket of their own to draw from.
   */
  private readonly buckets = new Map<string, Bucket>();

  constructor(
    private readonly rate: Rate,
    private readonly atMost = 65_536,
  ) {}

  get size(): number {
    return this.buckets.size;
  }

  /** Counts a request and answers 0, or else for how many milliseconds the address has none left. */
  take(address: string, now: number): number {
    const { requests, milliseconds } = this.rate;
    const cost = milliseconds / requests;
    const network = networkOf(address);
    const last = this.buckets.get(network) ?? { owed: 0, at: now };
    // Should the clock have stepped back, nobody waits for longer than a bucket takes to fill.
    const owed = Math.min(Math.max(0, last.owed + last.at - now), milliseconds);
    const wait = owed + cost - milliseconds;
    // Fractions of milliseconds do not add up to the last digit.
    const refused = wait > cost / 1e6;
    this.buckets.delete(network);
    this.buckets.set(network, { owed: refused ? owed : owed + cost, at: now });
    this.forget(now);
    return refused ? wait : 0;
  }

  private forget(now: number): void {
    for (const [network, { owed, at }] of this.buckets) {
      if (at + owed > now && this.buckets.size <= this.atMost) return;
      this.buckets.delete(network);
    }
  }
}

/** Who has an IPv6 address has the 2^64 of its network: they count as one. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = '', tail = ''] = (address.split('%')[0] ?? '').split('::');
  const [before, after] = [groupsOf(head), groupsOf(tail)];
  const between = Array<string>(8 - before.length - after.length).fill('0');
  const network = [...before, ...between, ...after].slice(0, 4);
  return network.map((group) => Number.parseInt(group, 16).toString(16)).join(':');
}

function groupsOf(part: string): string[] {
  return part === '' ? [] : part.replace(/[\d.]+\.\d+$/, '0:0').split(':');
}

/** Nobody's address is that of a socket in the file system. */
function isHere(ip: string | null): boolean {
  return ip === null || isLoopback(ip);
}
