/** What a pool hands out. */
export interface Pooled {
  /** False once it is good for nothing any more. */
  readonly alive: boolean;
  /** Says whether somebody has it now; while nobody has, it keeps no process from ending. */
  inUse(taken: boolean): void;
  end(): Promise<void>;
}

interface Waiting<C> {
  /** With a connection, or with none: there is room for a new one. */
  readonly go: (connection: C | undefined) => void;
  readonly fail: (error: unknown) => void;
}

/** Nobody gave a connection back in time. */
export class TooLate extends Error {
  override readonly name = 'TooLate';
}

/** So many connections at most, made as they are needed; whoever comes when all are in use waits in line. */
export class Pool<C extends Pooled> {
  private readonly idle: C[] = [];
  private readonly all = new Set<C>();
  private readonly waiting: Waiting<C>[] = [];
  /** Those that are being made included. */
  private count = 0;
  private closed: Error | undefined;

  constructor(
    private readonly connect: () => Promise<C>,
    private readonly size: number,
  ) {}

  /** Rejects with what `work` or `connect` rejects with, or a `TooLate` after so many milliseconds without a connection. */
  async use<T>(work: (connection: C) => Promise<T>, within?: number): Promise<T> {
    const connection = await (within === undefined ? this.take() : this.takeWithin(within));
    connection.inUse(true);
    try {
      return await work(connection);
    } finally {
      connection.inUse(false);
      this.giveBack(connection);
    }
  }

  /** Ends all connections; nobody gets one any more. */
  async close(): Promise<void> {
    this.closed = new Error('the pool is closed');
    for (const { fail } of this.waiting.splice(0)) fail(this.closed);
    await Promise.all([...this.all].map((connection) => connection.end()));
  }

  private takeWithin(milliseconds: number): Promise<C> {
    return new Promise((resolve, reject) => {
      let late = false;
      const timer = setTimeout(() => {
        late = true;
        reject(new TooLate());
      }, milliseconds);
      this.take()
        .then((connection) => (late ? this.giveBack(connection) : resolve(connection)), reject)
        .finally(() => clearTimeout(timer));
    });
  }

  private async take(): Promise<C> {
    for (;;) {
      if (this.closed) throw this.closed;
      const connection = this.idle.pop();
      if (connection?.alive) return connection;
      if (connection) this.drop(connection);
      else {
        const made = this.count < this.size ? await this.make() : undefined;
        // While that was found out, one may have come back that nobody waited for.
        const other = made ?? (this.idle.length > 0 ? undefined : await this.turn());
        if (other) return other;
      }
    }
  }

  /** Nothing when there can be no more, but there are others that come back. */
  private async make(): Promise<C | undefined> {
    this.count += 1;
    try {
      const connection = await this.connect();
      this.all.add(connection);
      return connection;
    } catch (error) {
      this.count -= 1;
      if (this.count > 0) return undefined;
      // Each of those who wait would find out for themselves, one after the other.
      for (const { fail } of this.waiting.splice(0)) fail(error);
      throw error;
    }
  }

  private turn(): Promise<C | undefined> {
    return new Promise((go, fail) => {
      this.waiting.push({ go, fail });
    });
  }

  private giveBack(connection: C): void {
    const next = this.waiting.shift();
    if (!connection.alive) {
      this.drop(connection);
      next?.go(undefined);
    } else if (next) next.go(connection);
    else this.idle.push(connection);
  }

  private drop(connection: C): void {
    this.all.delete(connection);
    this.count -= 1;
  }
}
