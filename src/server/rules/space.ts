import { full, ServiceRefusal } from '../service-errors';
import { Buckets } from '../shares';
import type { Database } from '../store/sql';

/** A `Visitor`. */
interface Storing {
  readonly owner: unknown;
  readonly client?: string | undefined;
}

type State = 'enough' | 'half' | 'short';

const warnings: { readonly [state in State]: string } = {
  enough: 'there is space for data again: pushes are accepted',
  half: 'half of the space for data is used: pushes without a token are refused',
  short: 'space for data is low: pushes are refused until there is more',
};

const HOUR_MS = 3_600_000;

/** One network may store a tenth of the half in an hour without a token. */
const NETWORK_PART = 20;

/** Bytes that a push takes besides its text and files, at most. */
const ROW = 8 * 1024;

/**
 * Refuses new pushes before the disk or the memory for data is full, as expiring a push also needs space to write, and
 * keeps half of the space for those who have a token.
 */
export class Space {
  private state: State = 'enough';
  private readonly stored = new Buckets({ requests: 1, milliseconds: HOUR_MS });

  constructor(
    private readonly database: Database,
    /** Bytes. */
    private readonly reserve: number,
    private readonly warn: (message: string) => void,
    /** Milliseconds since 1970. */
    private readonly now: () => number,
  ) {}

  /**
   * @param bytes what the visitor stores
   * @throws ServiceRefusal while less than `reserve` is free, or if a visitor without a token stores more than a share
   */
  async check({ owner, client }: Storing, bytes: number): Promise<void> {
    const all = await this.look();
    if (this.state === 'short') throw full();
    if (owner || all === undefined) return;
    if (this.state === 'half') throw full();
    if (client === undefined) return;
    const wait = this.stored.take(client, this.now(), (NETWORK_PART * (ROW + bytes)) / all);
    if (wait === 0) return;
    const message = 'Too much was stored from this network without a token. Try again later.';
    throw new ServiceRefusal('full', message, { retryAfter: Math.ceil(wait / 1000) });
  }

  /** Logs when the state of the space changes. Returns the bytes of all space; undefined for PostgreSQL. */
  async look(): Promise<number | undefined> {
    const space = await this.database.space();
    if (space === undefined) return undefined;
    const state = await this.stateOf(space);
    if (state !== this.state) this.warn(warnings[state]);
    this.state = state;
    return space.free + space.size - this.reserve;
  }

  /** Unused pages of the database count as free, but the write-ahead log needs half of the reserve on the disk. */
  private async stateOf({ free, size }: { readonly free: number; readonly size: number }) {
    const { database, reserve } = this;
    if (free - reserve >= size) return 'enough';
    const room = free + (await database.unused()) - reserve;
    if (free < reserve / 2 || room < 0) return 'short';
    return room < (free + size - reserve) / 2 ? 'half' : 'enough';
  }
}
