/** What a pool needs of a connection. */
export interface Pooled {
  /** False once the connection is unusable. */
  readonly alive: boolean;
  /** Called when it is taken and given back. A connection that is not in use must not keep the process alive. */
  inUse(taken: boolean): void;
  end(): Promise<void>;
}

interface Waiting<C> {
  /** Called with a connection, or with undefined when there is room for a new one. */
  readonly go: (connection: C | undefined) => void;
  readonly fail: (error: unknown) => void;
}

/** No connection became free in time. */
export class PoolTimeout extends Error {
  override readonly name = 'PoolTimeout';
}

/**
 * At most `size` connections, made when needed; callers wait in order while all are in use. Kept in place of pg-pool
 * (3.14), which fails a caller whose new connection is refused instead of letting it wait for one in use, and connects
 * to one host only.
 */
export class Pool<C extends Pooled> {
  private readonly idle: C[] = [];
  private readonly all = new Set<C>();
  private readonly waiting: Waiting<C>[] = [];
  /** Includes connections that are being made. */
  private count = 0;
  private closed: Error | undefined;

  constructor(
    private readonly connect: () => Promise<C>,
    private readonly size: number,
  ) {}

  /**
   * Runs `work` with a connection. Rejects as `work` or `connect` does.
   * @throws PoolTimeout when no connection is free within that many milliseconds
   */
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

  /** Ends all connections and rejects all who wait. */
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
        reject(new PoolTimeout());
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
        // Meanwhile a connection may have been given back while nobody was waiting.
        const other = made ?? (this.idle.length > 0 ? undefined : await this.wait());
        if (other) return other;
      }
    }
  }

  /** Returns undefined when no connection can be made, but others exist that will be given back. */
  private async make(): Promise<C | undefined> {
    this.count += 1;
    try {
      const connection = await this.connect();
      this.all.add(connection);
      return connection;
    } catch (error) {
      this.count -= 1;
      if (this.count > 0) return undefined;
      // Otherwise each of those who wait would try in turn, and wait for the server.
      for (const { fail } of this.waiting.splice(0)) fail(error);
      throw error;
    }
  }

  private wait(): Promise<C | undefined> {
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
