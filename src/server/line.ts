import { abandoned, busy } from './refusal';

/** Work of which so much is done at once, and so much may wait; more than that is refused. */
export class Line {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(
    private readonly atOnce: number,
    private readonly atMost: number,
  ) {}

  get idle(): boolean {
    return this.running === 0;
  }

  get length(): { readonly running: number; readonly waiting: number } {
    return { running: this.running, waiting: this.waiting.length };
  }

  /** Does `work` when its turn comes, unless nobody waits for it any more by then. Throws a `Refusal`. */
  async pass<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (this.running < this.atOnce) this.running += 1;
    else if (this.waiting.length < this.atMost) await this.turn();
    else throw busy('Too many passphrases are being checked. Try again later.');
    try {
      if (signal?.aborted) throw abandoned();
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.running -= 1;
    }
  }

  private turn(): Promise<void> {
    return new Promise((resolve) => this.waiting.push(resolve));
  }
}
