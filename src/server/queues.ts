import { randomInt } from 'node:crypto';
import { abandoned, busy } from './service-errors';
import { countOf } from './shares';

export type Abandonable = Pick<AbortSignal, 'aborted'>;

export interface Waiter {
  /** Aborted when nobody waits for the result any more. */
  readonly signal?: Abandonable | undefined;
  /** The client whose share the work counts against, if any. */
  readonly client?: string | undefined;
  readonly urgent?: boolean | undefined;
}

interface QueuedWaiter extends Waiter {
  begin(): void;
  refuse(): void;
}

/** Bounds how much work runs at once, and how much waits in all and per client; refuses the rest. */
export class Semaphore {
  private readonly running: Waiter[] = [];
  private readonly waiting: QueuedWaiter[] = [];

  constructor(
    private readonly maxRunning: number,
    private readonly maxWaiting: number,
    private readonly maxWaitingOfClient = maxWaiting,
  ) {}

  get idle(): boolean {
    return this.running.length === 0;
  }

  get length(): { readonly running: number; readonly waiting: number } {
    return { running: this.running.length, waiting: this.waiting.length };
  }

  /**
   * Runs `work` when its turn comes.
   * @throws ServiceRefusal (busy) when too much is waiting, (abandoned) when the waiter has gone before its turn
   */
  async run<T>(work: () => Promise<T>, waiter: Waiter = {}): Promise<T> {
    if (this.running.length < this.maxRunning) this.running.push(waiter);
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
    if (countOf(waiter.client, this.waiting) >= this.maxWaitingOfClient) throw tooMany();
    if (this.waiting.length >= this.maxWaiting) this.makeRoom(waiter);
    return new Promise((resolve, reject) => {
      const begin = () => {
        this.running.push(waiter);
        resolve();
      };
      this.waiting.push({ ...waiter, begin, refuse: () => reject(tooMany()) });
    });
  }

  /** Refuses the last waiter that is not urgent in favor of an urgent one, or throws to refuse the new one. */
  private makeRoom({ urgent }: Waiter): void {
    const last = this.waiting.findLastIndex(({ urgent }) => !urgent);
    if (!urgent || last === -1) throw tooMany();
    for (const waiter of this.waiting.splice(last, 1)) waiter.refuse();
  }

  /** Takes the waiter whose client has the least work running, so that one client cannot delay the others. */
  private next(): QueuedWaiter | undefined {
    const [first] = this.waiting.toSorted(
      (a, b) =>
        this.runningOf(a) - this.runningOf(b) ||
        Number(b.urgent ?? false) - Number(a.urgent ?? false),
    );
    if (first) this.waiting.splice(this.waiting.indexOf(first), 1);
    return first;
  }

  private runningOf({ client }: Waiter): number {
    return countOf(client, this.running);
  }
}

function tooMany() {
  return busy('Too many passphrases are being checked. Try again later.');
}

/** Runs `work` after everything that was queued before it has settled. */
export type Queue = <T>(work: () => Promise<T>) => Promise<T>;

export function createQueue(): Queue {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  };
}

/** Work that never runs twice at once: calls during a run share the next run. */
export class SharedRun {
  private last: Promise<void> = Promise.resolve();
  private next: Promise<void> | undefined;

  constructor(private readonly work: () => Promise<void>) {}

  /** Resolves when a run that started after this call has ended; rejects if that run fails. */
  run(): Promise<void> {
    this.next ??= this.last
      .catch(() => undefined)
      .then(() => {
        this.next = undefined;
        return this.work();
      });
    this.last = this.next;
    return this.next;
  }

  settled(): Promise<void> {
    return this.last;
  }
}

const MAX_DELAY_MS = 1000;
/** Work beyond this number is dropped, so that a flood of requests cannot fill the memory. */
const MAX_PENDING = 1000;

/**
 * Runs work that no response waits for after a random delay, so that its timing does not show which request caused it.
 * Errors are ignored.
 */
export class DeferredWork {
  private readonly waiting = new Map<() => Promise<unknown>, NodeJS.Timeout>();
  private readonly running = new Set<Promise<unknown>>();

  add(work: () => Promise<unknown>): void {
    if (this.waiting.size + this.running.size >= MAX_PENDING) return;
    const timer = setTimeout(() => this.begin(work), randomInt(MAX_DELAY_MS));
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
