import { abandoned, busy } from '../refusal';

/** Who waits. */
export interface Waiter {
  /** Ends when they have left. */
  readonly signal?: AbortSignal | undefined;
  /** Whose share they take; nothing where no share applies. */
  readonly client?: string | undefined;
  /** Goes before those that are not. */
  readonly urgent?: boolean | undefined;
}

interface Place extends Waiter {
  begin(): void;
  refuse(): void;
}

/** Work of which so much is done at once, and so much may wait, some of it of one client; more than that is refused. */
export class Line {
  private readonly running: Waiter[] = [];
  private readonly waiting: Place[] = [];

  constructor(
    private readonly atOnce: number,
    private readonly atMost: number,
    private readonly ofClient = atMost,
  ) {}

  get idle(): boolean {
    return this.running.length === 0;
  }

  get length(): { readonly running: number; readonly waiting: number } {
    return { running: this.running.length, waiting: this.waiting.length };
  }

  /**
   * Does `work` when its turn comes, unless nobody waits for it any more by then.
   * @throws Refusal when too much waits, or nobody does
   */
  async pass<T>(work: () => Promise<T>, waiter: Waiter = {}): Promise<T> {
    if (this.running.length < this.atOnce) this.running.push(waiter);
    else await this.turn(waiter);
    try {
      if (waiter.signal?.aborted) throw abandoned();
      return await work();
    } finally {
      this.running.splice(this.running.indexOf(waiter), 1);
      this.next()?.begin();
    }
  }

  private turn(waiter: Waiter): Promise<void> {
    const own = this.waiting.filter(({ client }) => client === waiter.client).length;
    if (waiter.client !== undefined && own >= this.ofClient) throw tooMany();
    if (this.waiting.length >= this.atMost) this.makeRoom(waiter);
    return new Promise((resolve, reject) => {
      const begin = () => {
        this.running.push(waiter);
        resolve();
      };
      this.waiting.push({ ...waiter, begin, refuse: () => reject(tooMany()) });
    });
  }

  /** The last one that is not urgent gives way to one that is. */
  private makeRoom({ urgent }: Waiter): void {
    const last = this.waiting.findLastIndex((place) => !place.urgent);
    if (!urgent || last === -1) throw tooMany();
    for (const place of this.waiting.splice(last, 1)) place.refuse();
  }

  /** Whose client has the least running comes first, so that nobody who asks much keeps others waiting. */
  private next(): Place | undefined {
    const [first] = this.waiting.toSorted(
      (a, b) =>
        this.runs(a) - this.runs(b) || Number(b.urgent ?? false) - Number(a.urgent ?? false),
    );
    if (first) this.waiting.splice(this.waiting.indexOf(first), 1);
    return first;
  }

  private runs({ client }: Waiter): number {
    return client === undefined ? 0 : this.running.filter((one) => one.client === client).length;
  }
}

function tooMany() {
  return busy('Too many passphrases are being checked. Try again later.');
}
