export interface Pooled {
  /** False once the connection is unusable. */
  readonly alive: boolean;
  /** Closes the connection at once; promises that wait for it reject with `code`. */
  abandon(code?: string): void;
  /** Closes the connection once it is idle, or after some seconds. */
  end(): Promise<void>;
}

interface PoolWaiter<C> {
  readonly resolve: (connection: C) => void;
  readonly reject: (error: unknown) => void;
}

/** Thrown when no connection becomes free in time, or the work does not settle. */
export class PoolTimeout extends Error {}

/** Milliseconds that work has to reject by itself after its connection was closed. */
const SETTLING = 100;

/** Makes at most `size` connections, when needed; callers wait in order while all are in use. */
export class Pool<C extends Pooled> {
  private readonly all = new Set<C>();
  private readonly idle: C[] = [];
  private readonly waiting = new Set<PoolWaiter<C>>();
  private making = 0;
  private closed: Error | undefined;

  constructor(
    private readonly connect: () => Promise<C>,
    private readonly size: number,
  ) {}

  /**
   * Runs `work` with a connection, which is closed if `work` has not settled within `within` milliseconds. Rejects as
   * `work` does, or as `connect` does if there is no connection at all.
   * @throws PoolTimeout when no connection is free in that time, or `work` does not settle after its connection was
   *   closed
   */
  async use<T>(work: (connection: C) => Promise<T>, within?: number): Promise<T> {
    let connection: C | undefined;
    let late = () => {};
    let timer = within === undefined ? undefined : setTimeout(() => late(), within);
    try {
      const lent = await new Promise<C>((resolve, reject) => {
        const waiter = { resolve, reject };
        late = () => {
          this.waiting.delete(waiter);
          reject(new PoolTimeout());
        };
        if (this.closed) reject(this.closed);
        else this.waiting.add(waiter);
        this.serve();
      });
      connection = lent;
      const over = new Promise<never>((_, reject) => {
        late = () => {
          lent.abandon('ETIMEDOUT');
          // The error of the work itself is preferred, because it says what may be retried.
          timer = setTimeout(() => reject(new PoolTimeout()), SETTLING);
        };
      });
      return await Promise.race([work(lent), over]);
    } finally {
      clearTimeout(timer);
      if (connection) this.giveBack(connection);
    }
  }

  async close(): Promise<void> {
    this.closed = new Error('the pool is closed');
    this.refuseAll(this.closed);
    await Promise.all([...this.all].map((connection) => connection.end()));
  }

  private giveBack(connection: C): void {
    if (connection.alive) this.idle.push(connection);
    else this.all.delete(connection);
    this.serve();
  }

  /** Gives idle connections to waiting callers, and makes a connection if there are too few. */
  private serve(): void {
    for (const waiter of this.waiting) {
      const connection = this.takeIdle();
      if (!connection) break;
      this.waiting.delete(waiter);
      waiter.resolve(connection);
    }
    const isRoom = this.all.size + this.making < this.size;
    if (isRoom && this.waiting.size > this.making) this.make().catch(this.unmade);
  }

  private takeIdle(): C | undefined {
    for (;;) {
      const connection = this.idle.pop();
      if (connection === undefined || connection.alive) return connection;
      this.all.delete(connection);
    }
  }

  private async make(): Promise<void> {
    let connection: C;
    this.making += 1;
    try {
      connection = await this.connect();
    } finally {
      this.making -= 1;
    }
    if (this.closed) return connection.abandon();
    this.all.add(connection);
    this.giveBack(connection);
  }

  /** While connections are in use or being made, waiting callers get one of them later. */
  private readonly unmade = (error: unknown) => {
    if (this.all.size + this.making === 0) this.refuseAll(error);
  };

  private refuseAll(error: unknown): void {
    for (const { reject } of this.waiting) reject(error);
    this.waiting.clear();
  }
}
