import type { Pooled } from './pg-pool';
import { hasCode, isRead, plain, type Sql, type Value } from './sql';

/** A connection to PostgreSQL, used by one caller at a time. */
export interface PgConnection extends Pooled {
  /** Rejects with a `ConnectionLost` when the connection broke, else with the server's error. */
  run<R>(
    strings: TemplateStringsArray,
    values: Value[],
  ): Promise<R[] & { readonly command: string }>;
}

/** Thrown when the connection broke. Uncommitted work is rolled back; the outcome of a started COMMIT is unknown. */
export class ConnectionLost extends Error {}

/** Thrown when the work was rolled back and may be retried. */
export class RolledBack extends Error {}

const begin = plain('BEGIN ISOLATION LEVEL READ COMMITTED');
const commit = plain('COMMIT');
const rollback = plain('ROLLBACK');

/**
 * Runs a statement without a transaction. After a lost connection only a read is retried: a write may have happened.
 */
export async function runSingle<R>(
  connection: PgConnection,
  strings: TemplateStringsArray,
  values: Value[],
) {
  try {
    return await connection.run<R>(strings, values);
  } catch (error) {
    const repeatable = error instanceof ConnectionLost && isRead(strings);
    throw repeatable || isConflict(error) ? new RolledBack('', { cause: error }) : error;
  }
}

/**
 * Runs `work` in a transaction. If the connection breaks before COMMIT is sent, nothing was done, and the transaction
 * is retried. If it breaks later, the outcome is unknown and reported as a failure: a view may be counted whose secret
 * nobody got, but no secret is shown without a counted view; and a push may exist, until it expires, whose link nobody
 * has.
 */
export async function transact<T>(
  connection: PgConnection,
  work: (sql: Sql) => Promise<T>,
): Promise<T> {
  const result = await orRollback(connection, async () => {
    // BEGIN is awaited, because a statement after a failed BEGIN would run outside of a transaction.
    await connection.run(begin, []);
    return work((strings, ...values) => connection.run(strings, values));
  });
  const { command } = await connection.run(commit, []).catch((error: unknown) => {
    throw isConflict(error) ? new RolledBack('', { cause: error }) : error;
  });
  // The server responds ROLLBACK to the COMMIT of a transaction in which a statement failed.
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

/** Whether the server reports serialization_failure or deadlock_detected. */
export function isConflict(error: unknown): boolean {
  return hasCode(error, '40001', '40P01');
}
