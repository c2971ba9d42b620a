import type { Database, Sql } from '../../store/sql';
import type { Histogram } from './exposition';

/** The same database, each statement and transaction of which is timed. */
export function timed(database: Database, durations: Histogram): Database {
  const observed = async <T>(operation: string, work: () => Promise<T>): Promise<T> => {
    const began = performance.now();
    try {
      return await work();
    } finally {
      durations.observe((performance.now() - began) / 1000, { operation });
    }
  };
  const sql: Sql = (strings, ...values) =>
    observed('statement', () => database.sql(strings, ...values));
  return {
    ...database,
    sql,
    transaction: (work, how) => observed('transaction', () => database.transaction(work, how)),
    exclusively: (work) => observed('transaction', () => database.exclusively(work)),
  };
}
