import type { Rate } from './service-settings';

/**
 * Returns the networks whose shares a client of `clientOf` counts against: its own, and wider ones whose shares are
 * `times` as large. A line at home has a /56 of IPv6 and a site a /48, and so 256 and 65,536 networks that are clients.
 */
export function networksOf(client: string): readonly (readonly [name: string, times: number])[] {
  const [first, second, third, fourth, more] = client.split(':');
  if (fourth === undefined || more !== undefined) return [[client, 1]];
  const site = `${first}:${second}:${third}`;
  const line = Number.parseInt(fourth, 16) >> 8;
  return [
    [client, 1],
    [`${site}:${line}/56`, 2],
    [`${site}/48`, 4],
  ];
}

interface Bucket {
  /** Milliseconds until the bucket is full, counted from `time`. */
  readonly owed: number;
  readonly time: number;
}

export class Buckets {
  /**
   * The least recently used bucket comes first. To drop its own bucket early, a client needs `atMost` other networks.
   */
  private readonly buckets = new Map<string, Bucket>();

  constructor(
    private readonly rate: Rate,
    private readonly atMost = 65_536,
  ) {}

  get size(): number {
    return this.buckets.size;
  }

  /**
   * Counts a request of a client of `clientOf`, or several. Returns 0, or the milliseconds until the client may send
   * them.
   */
  take(client: string, now: number, count = 1): number {
    const { requests, milliseconds } = this.rate;
    const shares = networksOf(client).map(([network, times]) => {
      const cost = (count * milliseconds) / (requests * times);
      const last = this.buckets.get(network) ?? { owed: 0, time: now };
      // If the clock was set back, nobody waits longer than a bucket takes to fill.
      const owed = Math.min(Math.max(0, last.owed + last.time - now), milliseconds);
      return { network, cost, owed, wait: owed + cost - milliseconds };
    });
    // Tolerates rounding errors of fractional milliseconds.
    const refused = shares.some(({ wait, cost }) => wait > cost / 1e6);
    for (const { network, cost, owed } of shares) {
      this.buckets.delete(network);
      this.buckets.set(network, { owed: refused ? owed : owed + cost, time: now });
    }
    this.forget(now);
    return refused ? Math.max(...shares.map(({ wait }) => wait)) : 0;
  }

  private forget(now: number): void {
    for (const [network, { owed, time }] of this.buckets) {
      if (time + owed > now && this.buckets.size <= this.atMost) return;
      this.buckets.delete(network);
    }
  }
}

/** Counts how much of a resource clients and their networks hold. */
export class Shares {
  private readonly held = new Map<string, number>();

  /** Adds `amount`, which may be negative, to what a client holds. Returns the result of `of`. */
  add(client: string, amount: number): number {
    for (const [network] of networksOf(client)) {
      const held = (this.held.get(network) ?? 0) + amount;
      if (held > 0) this.held.set(network, held);
      else this.held.delete(network);
    }
    return this.of(client);
  }

  of(client: string | undefined): number {
    if (client === undefined) return 0;
    const parts = networksOf(client).map(
      ([network, times]) => (this.held.get(network) ?? 0) / times,
    );
    return Math.max(...parts);
  }
}

/** Returns how many of `all` count against the share of a client. */
export function countOf(
  client: string | undefined,
  all: readonly { readonly client?: string | undefined }[],
): number {
  const shares = new Shares();
  for (const holder of all) if (holder.client !== undefined) shares.add(holder.client, 1);
  return shares.of(client);
}
