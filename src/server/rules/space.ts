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
    await this.look();
    if (this.short) throw full();
  }

  /** Logs when there begins to be too little, and when there is enough again. */
  async look(): Promise<void> {
    const short = !(await this.isEnough());
    if (short && !this.short)
      this.warn('space for data is low: pushes are refused until there is more');
    if (!short && this.short) this.warn('there is space for data again: pushes are accepted');
    this.short = short;
  }

  /** Free pages inside the database file count, but half of the reserve must be on the disk, for the write-ahead log. */
  async isEnough(): Promise<boolean> {
    const { database, reserve } = this;
    const free = await database.free();
    if (free === undefined || free >= reserve) return true;
    return free >= reserve / 2 && free + (await database.unused()) >= reserve;
  }
}
