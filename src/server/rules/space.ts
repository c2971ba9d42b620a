import { full } from '../service-errors';
import type { Database } from '../store/sql';

/** Refuses pushes before the disk, or what memory there is for data, is full: expiring pushes has to write, too. */
export class Space {
  private short = false;

  constructor(
    private readonly database: Database,
    /** Bytes. */
    private readonly reserve: number,
    private readonly warn: (message: string) => void,
  ) {}

  /** @throws ServiceRefusal while less than the reserve is free */
  async check(): Promise<void> {
    const enough = await this.isEnough();
    if (!enough && !this.short)
      this.warn('space for data is low: pushes are refused until there is more');
    this.short = !enough;
    if (!enough) throw full();
  }

  /** Free pages inside the database file count, but half of the reserve must be on the disk, for the write-ahead log. */
  async isEnough(): Promise<boolean> {
    const { database, reserve } = this;
    const free = database.free();
    if (free === undefined || free >= reserve) return true;
    return free >= reserve / 2 && free + (await database.unused()) >= reserve;
  }
}
