import { randomInt } from 'node:crypto';

/** Maximum delay in milliseconds. */
const MAX_DELAY = 1000;
/** Work beyond this is dropped, so that a flood of requests cannot fill the memory. */
const MAX_PENDING = 1000;

/**
 * Work that no response waits for. It runs after a random delay, so that its timing does not show which request caused
 * it. Errors are ignored.
 */
export class DeferredWork {
  private readonly waiting = new Map<() => Promise<unknown>, NodeJS.Timeout>();
  private readonly running = new Set<Promise<unknown>>();

  add(work: () => Promise<unknown>): void {
    if (this.waiting.size + this.running.size >= MAX_PENDING) return;
    const timer = setTimeout(() => this.begin(work), randomInt(MAX_DELAY));
    timer.unref();
    this.waiting.set(work, timer);
  }

  /** Starts all waiting work now, and resolves when all work is done. */
  async finish(): Promise<void> {
    for (const work of [...this.waiting.keys()]) this.begin(work);
    await Promise.all(this.running);
  }

  private begin(work: () => Promise<unknown>): void {
    clearTimeout(this.waiting.get(work));
    this.waiting.delete(work);
    const done: Promise<unknown> = work()
      .catch(() => undefined)
      .finally(() => this.running.delete(done));
    this.running.add(done);
  }
}
