/**
 * Whose shares a client of `clientOf` takes: its own, and those of wider networks, with how many times as much they are. A
 * line at home has a /56 of IPv6, a site a /48, and so 256 and 65,536 networks that are clients.
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

/** Counts what clients and their networks hold of something. */
export class Shares {
  private readonly held = new Map<string, number>();

  /** Adds to what a client holds, or takes away. Returns how much counts for its share: that of a wider network is larger. */
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

/** Counts those of a client, as they count for its share. */
export function countOf(
  client: string | undefined,
  all: readonly { readonly client?: string | undefined }[],
): number {
  const shares = new Shares();
  for (const holder of all) if (holder.client !== undefined) shares.add(holder.client, 1);
  return shares.of(client);
}
