import type { Log } from '../ops/log';
import { full } from '../service-errors';
import type { Database } from '../store/sql';

const SWEEP_EVERY = 60_000;

/** Sweeps now and every minute. The function returned stops that, and waits for the current sweep. */
export function sweepRegularly(
  pushes: { sweep(): Promise<number>; halt(): void },
  log: Log,
): () => Promise<void> {
  const sweep = async () => {
    try {
      const expired = await pushes.sweep();
      if (expired > 0) log.event('sweep', { expired });
    } catch (error) {
      log.warning(`expired pushes could not be deleted: ${(error as Error).name}`);
    }
  };
  let last = sweep();
  const timer = setInterval(() => {
    last = sweep();
  }, SWEEP_EVERY);
  timer.unref();
  return async () => {
    clearInterval(timer);
    pushes.halt();
    await last;
  };
}

/** Refuses pushes before the disk, or what memory there is for data, is full: expiring pushes has to write, too. */
export class Space {
  private short = false;

  constructor(
    private readonly database: Database,
    /** Bytes. */
    private readonly reserve: number,
    private readonly warn: (message: string) => void,
  ) {}

  /** @throws Refusal while less than the reserve is free */
  async check(): Promise<void> {
    const enough = await this.isEnough();
    if (!enough && !this.short) {
      this.warn('space for data is low: pushes are refused until there is more');
    }
    this.short = !enough;
    if (!enough) throw full();
  }

  /** Free pages inside the database file count, but half of the reserve must be on the disk, for the write-ahead log. */
  private async isEnough(): Promise<boolean> {
    const { database, reserve } = this;
    const free = database.free();
    if (free === undefined || free >= reserve) return true;
    return free >= reserve / 2 && free + (await database.unused()) >= reserve;
  }
}
