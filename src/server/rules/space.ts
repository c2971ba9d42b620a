import { full } from '../refusal';
import type { Database } from '../store/sql';

/** Refuses what would fill the disk, so that what expires can still be written down. */
export class Space {
  private short = false;

  constructor(
    private readonly database: Database,
    /** Bytes that stay free. */
    private readonly reserve: number,
    private readonly warn: (message: string) => void,
  ) {}

  /** Throws a `Refusal` while the disk has less than the reserve. */
  async check(): Promise<void> {
    const enough = await this.isEnough();
    if (!enough && !this.short) {
      this.warn('the disk of the data is short of space: no pushes are taken until there is more');
    }
    this.short = !enough;
    if (!enough) throw full();
  }

  /** What was deleted inside of the file counts, but the log needs some of the disk itself. */
  private async isEnough(): Promise<boolean> {
    const { database, reserve } = this;
    const free = database.free();
    if (free === undefined || free >= reserve) return true;
    return free >= reserve / 2 && free + (await database.unused()) >= reserve;
  }
}
