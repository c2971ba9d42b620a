import { full } from '../service-errors';
import type { Database } from '../store/sql';

/** Refuses new pushes before the disk or the memory for data is full, as expiring a push also needs space to write. */
export class Space {
  private short = false;

  constructor(
    private readonly database: Database,
    /** Bytes. */
    private readonly reserve: number,
    private readonly warn: (message: string) => void,
  ) {}

  /** @throws ServiceRefusal while less than `reserve` is free */
  async check(): Promise<void> {
    await this.look();
    if (this.short) throw full();
  }

  /** Logs when free space falls below `reserve`, and when it is above again. */
  async look(): Promise<void> {
    const short = !(await this.isEnough());
    if (short && !this.short)
      this.warn('space for data is low: pushes are refused until there is more');
    if (!short && this.short) this.warn('there is space for data again: pushes are accepted');
    this.short = short;
  }

  /** Free pages inside the database file count, but the write-ahead log needs half of the reserve on the disk. */
  async isEnough(): Promise<boolean> {
    const { database, reserve } = this;
    const free = await database.free();
    if (free === undefined || free >= reserve) return true;
    return free >= reserve / 2 && free + (await database.unused()) >= reserve;
  }
}
