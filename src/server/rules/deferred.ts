import { randomInt } from 'node:crypto';

/** Milliseconds within which it is done. */
const SOON = 1000;
/** More than that is dropped: whoever asks that often learns nothing, and must not fill the memory. */
const AT_MOST = 1000;

/**
 * Work that no answer waits for. It is done soon, at a moment that tells nobody which request asked for it; what
 * fails is left.
 */
export class Aside {
  private readonly waiting = new Map<() => Promise<unknown>, NodeJS.Timeout>();
  private readonly running = new Set<Promise<unknown>>();

  do(work: () => Promise<unknown>): void {
    if (this.waiting.size + this.running.size >= AT_MOST) return;
    const timer = setTimeout(() => this.begin(work), randomInt(SOON));
    timer.unref();
    this.waiting.set(work, timer);
  }

  /** Does what waits at once, and resolves when all is done. */
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
