import { dirname, join } from 'node:path';
import { full } from '../refusal';
import { orLocked, patiently, type Sleep } from './busy-retry';
import { groupCommit, nextRound } from './group-commit';
import { inTurn } from './one-at-a-time';
import { Ballast, freeBytes } from './reserve-file';
import { type Database, isFull, type Sql, type Value } from './sql';

/** What `node:sqlite` and libsql have in common, for as much as we use. */
export interface Native {
  exec(sql: string): void;
  prepare(sql: string): Prepared;
  close(): void;
}

/** A statement that is used again and again. */
export interface Prepared {
  all(values: Value[]): unknown[];
}

/**
 * Rows that SQLite moves from one page of a tree to another leave copies in the gap between the cells, which
 * `secure_delete` does not reach when they are deleted. Overflow pages are never moved, and overwritten when they
 * are freed. Of a row at most 4061 bytes of a page of 4096 stand outside of those: with 4100 bytes in front, no key
 * does. It costs a push 4.5 kB of disk while it is active, and 0.03 ms when it is made: a hundredth of what the
 * sync takes.
 */
const filler = ' filler BLOB DEFAULT (zeroblob(4100)),';

export interface NativeOptions {
  readonly sleep?: Sleep | undefined;
  /** The path of the database; undefined for one in memory. */
  readonly file?: string | undefined;
}

/** The database over one connection: statements take turns, transactions in groups. */
export function overNative(native: Native, { sleep, file }: NativeOptions = {}): Database {
  const { run, forget } = prepared(native);
  const commit = groupCommit(native);
  const ballast =
    file === undefined ? undefined : new Ballast(join(dirname(file), 'pwpush.reserve'));
  const transaction: Database['transaction'] = async (work, { frees = false } = {}) => {
    const attempt = (alone: boolean) => patiently(() => commit(() => work(run), alone), sleep);
    try {
      return await attempt(false).catch(async (error: unknown) => {
        if (!isFull(error)) throw error;
        await inTurn(async () => {
          if (frees) ballast?.giveUp();
          // What was rolled back has made the log longer.
          checkpoint(native);
        });
        if (!frees) throw error;
        return attempt(true);
      });
    } catch (error) {
      throw isFull(error) ? full() : error;
    }
  };
  let scrubbing: Promise<boolean> | undefined;
  let closing: Promise<void> | undefined;
  const close = async () => {
    // After the group that is gathering.
    await nextRound();
    await inTurn(async () => {
      checkpoint(native);
      forget();
      native.close();
    });
  };
  return {
    dialect: { blob: 'BLOB', identity: 'INTEGER PRIMARY KEY', filler },
    sql: <R>(strings: TemplateStringsArray, ...values: Value[]) =>
      isWrite(strings)
        ? transaction((sql) => sql<R>(strings, ...values))
        : patiently(() => inTurn(() => orLocked(() => run<R>(strings, ...values))), sleep),
    transaction,
    // Every transaction has the database to itself.
    exclusively: (work) => transaction(work),
    scrub() {
      // Shared by all that committed before it begins: it costs as much as four commits.
      scrubbing ??= nextRound().then(() =>
        inTurn(async () => {
          scrubbing = undefined;
          return checkpoint(native);
        }),
      );
      return scrubbing;
    },
    alone: () => inTurn(async () => isAlone(native)),
    free: () => (file === undefined ? undefined : freeBytes(dirname(file))),
    unused: () => inTurn(async () => unusedBytes(native)),
    async setAside() {
      ballast?.make();
    },
    rewrite: () =>
      inTurn(async () => {
        native.exec('VACUUM');
        checkpoint(native);
      }),
    close() {
      // Node's own SQLite, unlike libsql, refuses to be closed twice.
      closing ??= close();
      return closing;
    },
  };
}

/**
 * Prepares each statement of the program once: that takes as long as running it. libsql goes on with a database
 * that was closed as long as it has statements; `forget` drops them.
 */
function prepared(native: Native): { run: Sql; forget: () => void } {
  let known = new WeakMap<TemplateStringsArray, Prepared>();
  const run: Sql = async <R>(strings: TemplateStringsArray, ...values: Value[]) => {
    const statement = known.get(strings) ?? native.prepare(strings.join('?'));
    // One that failed is not used again: libsql (0.5.29) leaves it as it was then.
    known.delete(strings);
    const rows = statement.all(values) as R[];
    known.set(strings, statement);
    return rows;
  };
  return {
    run,
    forget() {
      known = new WeakMap();
    },
  };
}

/**
 * Such a statement waits for the lock as a transaction: by itself it would be left unfinished when it does not get it,
 * and with libsql (0.5.29) nothing can be committed until that was collected as garbage.
 */
function isWrite(strings: TemplateStringsArray): boolean {
  return /^\s*(?:INSERT|UPDATE|DELETE)\b/.test(strings[0] as string);
}

/** Only a lone connection may take a file out of WAL, and so learns that it is one. */
function isAlone(native: Native): boolean {
  try {
    const [row] = native.prepare('PRAGMA journal_mode = DELETE').all([]) as {
      journal_mode: string;
    }[];
    return row?.journal_mode === 'delete';
  } catch {
    return false;
  } finally {
    native.prepare('PRAGMA journal_mode = WAL').all([]);
  }
}

function unusedBytes(native: Native): number {
  const [pages] = native.prepare('PRAGMA freelist_count').all([]) as { freelist_count: number }[];
  const [page] = native.prepare('PRAGMA page_size').all([]) as { page_size: number }[];
  return (pages?.freelist_count ?? 0) * (page?.page_size ?? 0);
}

/** Old pages, keys among them, stay in the log until it is emptied. A reader elsewhere puts that off. */
function checkpoint(native: Native): boolean {
  try {
    const [row] = native.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all([]) as { busy: number }[];
    return row?.busy === 0;
  } catch {
    // Another program holds the database; its own expiries or the next sweep empty the log.
    return false;
  }
}
