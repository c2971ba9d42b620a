import { away, busy, full, inUse } from '../service-errors';
import { type Database, hasCode, isFull, plain, type Sql, type Value } from './sql';

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

/** A connection to PostgreSQL, used by one caller at a time. */
export interface PgConnection extends Pooled {
  /** Rejects with a `ConnectionLost` when the connection broke, else with the server's error. */
  run<R>(
    strings: TemplateStringsArray,
    values: Value[],
  ): Promise<R[] & { readonly command: string }>;
  /** Turns off the limit of time for the server's answers until the connection is given back. */
  waitLong(): void;
  /** Closes it at once; the server rolls back. */
  abandon(): void;
}

/** The connection broke. What was not committed is rolled back; the outcome of a COMMIT under way is unknown. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
}

/** No server could be reached; nothing was sent. `cause` is the last error. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
}

/** The work was rolled back and may be retried. */
class RolledBack extends Error {
  override readonly name = 'RolledBack';
}

const MAX_TRIES = 5;

/** The advisory lock of `exclusively`: an arbitrary number that all services on a database share. */
const LOCK = 7_093_187_461;

/** The advisory lock that each session shares, and `solely` takes alone. The server frees it when a session breaks. */
export const USE_LOCK = 7_093_187_462;

const begin = plain('BEGIN ISOLATION LEVEL READ COMMITTED');
const commit = plain('COMMIT');
const rollback = plain('ROLLBACK');

/** Milliseconds that a request waits in all for a hung server: for a connection, for answers and for retries. */
const REQUEST_TIMEOUT = 9000;

/** The database over a pool of connections; `timeout` in milliseconds limits each request, `exclusively` excepted. */
export function overPool(pool: Pool<PgConnection>, timeout = REQUEST_TIMEOUT): Database {
  const limited = <T>(work: (connection: PgConnection) => Promise<T>) =>
    retry((left) => pool.use((connection) => within(left, connection, work), left), timeout);
  return {
    dialect: {
      blob: 'BYTEA',
      identity: 'BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY',
      // Deleted rows stay in the files until these are vacuumed and overwritten, whatever their layout.
      filler: '',
    },
    sql: <R>(strings: TemplateStringsArray, ...values: Value[]) =>
      limited((connection) => runSingle<R>(connection, strings, values)),
    transaction: (work) => limited((connection) => transact(connection, work, false)),
    exclusively: (work) => retry(() => pool.use((connection) => transact(connection, work, true))),
    solely: (work) =>
      retry(() =>
        pool.use((connection) =>
          transact(connection, (sql) => takeUseLock(sql).then(() => work(sql)), true),
        ),
      ),
    // Services on other machines may connect at any time.
    alone: async () => false,
    // VACUUM would take long and not overwrite the bytes.
    scrub: async () => true,
    free: () => undefined,
    unused: async () => 0,
    setAside: async () => undefined,
    // Dumps contain current rows only; for the files see pwpush-serve(1), Upgrade.
    close: () => pool.close(),
  };
}

/** Retries what was rolled back, for `timeout` milliseconds. `attempt` gets the milliseconds that are left. */
async function retry<T>(
  attempt: (left: number) => Promise<T>,
  timeout = Number.POSITIVE_INFINITY,
): Promise<T> {
  const until = performance.now() + timeout;
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt(until - performance.now());
    } catch (error) {
      const over = tries === MAX_TRIES || performance.now() >= until;
      if (!(error instanceof RolledBack) || over) throw toRefusal(error);
    }
  }
}

/** Closes the connection when `work` has not settled within that many milliseconds. */
async function within<T>(
  milliseconds: number,
  connection: PgConnection,
  work: (connection: PgConnection) => Promise<T>,
): Promise<T> {
  const timer = setTimeout(() => connection.abandon(), milliseconds);
  try {
    return await work(connection);
  } finally {
    clearTimeout(timer);
  }
}

/** The `Refusal` for an error of the server or the connection; any other error as it is. */
function toRefusal(error: unknown): unknown {
  if (error instanceof RolledBack) return toRefusal(error.cause);
  if (
    error instanceof Unreachable ||
    error instanceof ConnectionLost ||
    error instanceof PoolTimeout
  ) {
    return away();
  }
  if (isFull(error)) return full();
  // lock_not_available and query_canceled: waited for a lock longer than the server allows.
  const waited = isConflict(error) || hasCode(error, '55P03', '57014');
  return waited ? busy('The database is busy. Try again later.') : error;
}

/** A statement outside of a transaction. After a lost connection only a SELECT is retried: a write may have happened. */
async function runSingle<R>(
  connection: PgConnection,
  strings: TemplateStringsArray,
  values: Value[],
) {
  try {
    return await connection.run<R>(strings, values);
  } catch (error) {
    const repeatable = error instanceof ConnectionLost && /^\s*SELECT\b/.test(strings[0] as string);
    throw repeatable || isConflict(error) ? new RolledBack('', { cause: error }) : error;
  }
}

/**
 * Runs `work` in a transaction. If the connection breaks before COMMIT is sent, nothing was done, and the transaction is
 * retried. If it breaks after that, the outcome is unknown and reported as a failure: a view may be counted whose secret
 * nobody got, but no secret is shown without a counted view; and a push may exist, until it expires, whose link nobody
 * has.
 */
async function transact<T>(
  connection: PgConnection,
  work: (sql: Sql) => Promise<T>,
  exclusive: boolean,
): Promise<T> {
  const result = await orRollback(connection, async () => {
    // Awaited, because a statement after a failed BEGIN would run outside of a transaction.
    await connection.run(begin, []);
    const sql: Sql = (strings, ...values) => connection.run(strings, values);
    if (exclusive) await lockDatabase(connection, sql);
    return work(sql);
  });
  const { command } = await connection.run(commit, []).catch((error: unknown) => {
    throw isConflict(error) ? new RolledBack('', { cause: error }) : error;
  });
  // The server answers ROLLBACK to the COMMIT of a transaction in which a statement failed.
  if (command !== 'COMMIT') throw new Error('nothing was committed');
  return result;
}

async function orRollback<T>(connection: PgConnection, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (connection.alive) await connection.run(rollback, []).catch(() => connection.abandon());
    const rolledBack = error instanceof ConnectionLost || isConflict(error);
    throw rolledBack ? new RolledBack('', { cause: error }) : error;
  }
}

/** Without a limit of time: creating the tables may take long, and other services wait for it. */
async function lockDatabase(connection: PgConnection, sql: Sql): Promise<void> {
  connection.waitLong();
  await sql`SET LOCAL lock_timeout = 0`;
  await sql`SELECT pg_advisory_xact_lock(${LOCK})`;
}

async function takeUseLock(sql: Sql): Promise<void> {
  const [row] = await sql<{ taken: boolean }>`
    SELECT pg_try_advisory_xact_lock(${USE_LOCK}) AS taken`;
  if (!row?.taken) throw inUse();
}

/** serialization_failure and deadlock_detected. */
function isConflict(error: unknown): boolean {
  return hasCode(error, '40001', '40P01');
}
