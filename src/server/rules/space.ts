import { full, ServiceRefusal } from '../service-errors';
import { Buckets } from '../shares';
import type { Database } from '../store/sql';

/** A `Visitor`. */
interface Storing {
  readonly owner: unknown;
  readonly client?: string | undefined;
}

/** The warnings when something begins, and when it is over. */
const warnings = {
  short: [
    'space for data is low: pushes are refused until there is more',
    'there is space for data again: pushes are accepted',
  ],
  half: [
    'half of the space for data is used: pushes without a token are refused',
    'there is space for data again: pushes without a token are accepted',
  ],
} as const;

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
  private readonly is = { short: false, half: false };
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
    const space = await this.look();
    if (this.is.short) throw full();
    if (owner || space === undefined) return;
    const { all, room } = space;
    // Pushes come and go: the end is said when there is somewhat more.
    this.tell('half', room < all * (this.is.half ? 0.55 : 0.5));
    if (this.is.half) throw full();
    if (client === undefined) return;
    const wait = this.stored.take(client, this.now(), (NETWORK_PART * (ROW + bytes)) / all);
    if (wait === 0) return;
    const message = 'Too much was stored from this network without a token. Try again later.';
    throw new ServiceRefusal('full', message, { retryAfter: Math.ceil(wait / 1000) });
  }

  /** Logs when free space falls below `reserve`, and when it is above again. Returns undefined for PostgreSQL. */
  async look(): Promise<{ readonly all: number; readonly room: number } | undefined> {
    const { database, reserve } = this;
    const space = await database.space();
    if (space === undefined) return undefined;
    const { free, size } = space;
    // Unused pages of the database count as free, and are counted where they decide.
    const unused = free - reserve < size ? await database.unused() : 0;
    const room = free + unused - reserve;
    // The write-ahead log needs half of the reserve on the disk.
    this.tell('short', free < reserve / 2 || room < 0);
    return { all: free + size - reserve, room };
  }

  private tell(what: keyof typeof warnings, is: boolean): void {
    if (is !== this.is[what]) this.warn(warnings[what][is ? 0 : 1]);
    this.is[what] = is;
  }
}
