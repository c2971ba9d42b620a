import { orLocked, patiently, type Sleep } from './patience';
import type { Database, Sql, Value } from './sql';
import { inTurn } from './turns';

/** What `node:sqlite` and libsql have in common, for as much as we use. */
export interface Native {
  exec(sql: string): void;
  all(sql: string, values: Value[]): unknown[];
  close(): void;
}

/**
 * Rows that SQLite moves from one page of a tree to another leave copies in the gap between the cells, which
 * `secure_delete` does not reach when they are deleted. Overflow pages are never moved, and overwritten when they
 * are freed. Of a row at most 4061 bytes of a page of 4096 stand outside of those: with 4100 bytes in front, no key
 * does. It costs a push 4.5 kB of disk while it is active, and 0.03 ms when it is made: a hundredth of what the
 * sync takes.
 */
const filler = ' filler BLOB DEFAULT (zeroblob(4100)),';

/** The database over one connection: statements take turns, a transaction holds the turn until its end. */
export function overNative(native: Native, sleep?: Sleep): Database {
  const run: Sql = async <R>(strings: TemplateStringsArray, ...values: Value[]) =>
    native.all(strings.join('?'), values) as R[];
  const transaction: Database['transaction'] = (work) =>
    patiently(() => inTurn(() => immediate(native, () => work(run))), sleep);
  let scrubbing: Promise<void> | undefined;
  return {
    dialect: { blob: 'BLOB', identity: 'INTEGER PRIMARY KEY', filler },
    sql: <R>(strings: TemplateStringsArray, ...values: Value[]) =>
      isWrite(strings)
        ? transaction((sql) => sql<R>(strings, ...values))
        : patiently(() => inTurn(() => orLocked(() => run<R>(strings, ...values))), sleep),
    transaction,
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

/**
 * Such a statement waits for the lock as a transaction: by itself it would be left unfinished when it does not get it,
 * and with libsql (0.5.29) nothing can be committed until that was collected as garbage.
 */
function isWrite(strings: TemplateStringsArray): boolean {
  return /^\s*(?:INSERT|UPDATE|DELETE)\b/.test(strings[0] as string);
}

/**
 * IMMEDIATE takes the write lock before anything is read, so no two processes decide on the same row, and nothing
 * was done where it was not to be had.
 */
async function immediate<T>(native: Native, work: () => Promise<T>): Promise<T> {
  await orLocked(async () => native.exec('BEGIN IMMEDIATE'));
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
  try {
    const [row] = native.all('PRAGMA journal_mode = DELETE', []) as { journal_mode: string }[];
    return row?.journal_mode === 'delete';
  } catch {
    return false;
  } finally {
    native.all('PRAGMA journal_mode = WAL', []);
  }
}

/** Old pages, keys among them, stay in the log until it is emptied. A reader elsewhere puts that off. */
function checkpoint(native: Native): void {
  try {
    native.all('PRAGMA wal_checkpoint(TRUNCATE)', []);
  } catch {
    // Another program holds the database; its own expiries or the next sweep empty the log.
  }
}
