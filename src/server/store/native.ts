import type { Database, Sql, Value } from './sql';
import { inTurn } from './turns';

/** What `node:sqlite` and libsql have in common, for as much as we use. */
export interface Native {
  exec(sql: string): void;
  all(sql: string, values: Value[]): unknown[];
  close(): void;
}

/** The database over one connection: statements take turns, a transaction holds the turn until its end. */
export function overNative(native: Native): Database {
  const run: Sql = async <R>(strings: TemplateStringsArray, ...values: Value[]) =>
    native.all(strings.join('?'), values) as R[];
  let scrubbing: Promise<void> | undefined;
  return {
    dialect: { blob: 'BLOB', identity: 'INTEGER PRIMARY KEY' },
    sql: (strings, ...values) => inTurn(() => run(strings, ...values)),
    transaction: (work) => inTurn(() => immediate(native, () => work(run))),
    scrub() {
      scrubbing ??= nextRound().then(() => {
        scrubbing = undefined;
        return inTurn(async () => checkpoint(native));
      });
      return scrubbing;
    },
    alone: () => inTurn(async () => isAlone(native)),
    close: () =>
      inTurn(async () => {
        checkpoint(native);
        native.close();
      }),
  };
}

/** IMMEDIATE takes the write lock before anything is read, so no two processes decide on the same row. */
async function immediate<T>(native: Native, work: () => Promise<T>): Promise<T> {
  native.exec('BEGIN IMMEDIATE');
  try {
    const result = await work();
    native.exec('COMMIT');
    return result;
  } catch (error) {
    rollBack(native);
    throw error;
  }
}

function rollBack(native: Native): void {
  try {
    native.exec('ROLLBACK');
  } catch {
    // A full disk, for one, has undone it already; the first error is the one to tell.
  }
}

/** Many expiries of the same round share one checkpoint: it costs as much as three commits. */
function nextRound(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Only a lone connection may take a file out of WAL, and so learns that it is one. */
function isAlone(native: Native): boolean {
  native.all('PRAGMA busy_timeout = 0', []);
  try {
    const [row] = native.all('PRAGMA journal_mode = DELETE', []) as { journal_mode: string }[];
    return row?.journal_mode === 'delete';
  } catch {
    return false;
  } finally {
    native.all('PRAGMA busy_timeout = 5000', []);
    native.all('PRAGMA journal_mode = WAL', []);
  }
}

/** Old pages, keys among them, stay in the log until it is emptied. A reader elsewhere puts that off. */
function checkpoint(native: Native): void {
  native.all('PRAGMA busy_timeout = 0', []);
  try {
    native.all('PRAGMA wal_checkpoint(TRUNCATE)', []);
  } catch {
    // Another program holds the database; its own expiries or the next sweep empty the log.
  } finally {
    native.all('PRAGMA busy_timeout = 5000', []);
  }
}
