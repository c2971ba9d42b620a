import { closeSync, constants, fchmodSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { lazy } from '../../platform/files/lazy';
import { createQueue, type Queue } from '../queues';
import { away, full, inUse } from '../service-errors';
import { groupCommit, nextRound, orLocked, retryWhileLocked, type Sleep } from './group-commit';
import {
  checking,
  type Database,
  isDamaged,
  isDiskFailure,
  isFull,
  isRead,
  type Sql,
  type Value,
} from './sql';
import {
  type Open,
  pragma,
  type Quietly,
  type SqliteConnection,
  type SqliteStatement,
  sqliteDriver,
} from './sqlite-driver';
import { Disk, Memory, PAGE, type Storage } from './sqlite-space';

const pragmas = [
  // `filler` relies on this size, SQLite's default, which is fixed once there are tables.
  `page_size = ${PAGE}`,
  // The switch to WAL, which follows, waits for other processes.
  'busy_timeout = 5000',
  'journal_mode = WAL',
  // SQLite syncs the write-ahead log at every commit, so that an answered view is on disk.
  'synchronous = FULL',
  // Freed pages are overwritten with zeros; for rows within pages see `filler`.
  'secure_delete = ON',
  'foreign_keys = ON',
  // Savepoint journals, which contain old pages with keys, are not in files.
  'temp_store = MEMORY',
  // From here on SQLite does not wait itself, which would block the event loop: see `retryWhileLocked`.
  'busy_timeout = 0',
];

/**
 * Opens the database file at `path` (0600, created when missing).
 * @throws ServiceError when there is no SQLite; else what SQLite or the system throws
 */
export async function openSqlite(path: string, quietly: Quietly, sleep?: Sleep): Promise<Database> {
  const connect = await sqliteDriver(quietly);
  ownerOnly(path);
  const disk = new Disk(dirname(path));
  return overConnection(opened(connect, path), disk, sleep, unmoved(path));
}

/**
 * Opens a database in memory.
 * @param most bytes that it may take
 * @throws ServiceError when there is no SQLite
 */
export async function openMemory(
  quietly: Quietly,
  most = Number.MAX_SAFE_INTEGER,
): Promise<Database> {
  const connection = opened(await sqliteDriver(quietly), ':memory:');
  return overConnection(connection, new Memory(connection, most), undefined);
}

function opened(connect: Open, path: string): SqliteConnection {
  const connection = connect(path);
  try {
    for (const one of pragmas) pragma(connection, one);
  } catch (error) {
    connection.close();
    throw error;
  }
  return connection;
}

/**
 * Sets mode 0600, which `-wal` and `-shm` inherit. Does not follow a symbolic link (ELOOP), because root would change the
 * mode of its target.
 */
function ownerOnly(path: string): void {
  const { O_RDWR, O_CREAT, O_NOFOLLOW = 0 } = constants;
  const file = openSync(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0o600);
  fchmodSync(file, 0o600);
  closeSync(file);
}

/**
 * Returns a function that throws while another file than now, or none, is at the path: what is written then would not be
 * found after a restart. SQLite looks itself only without a write-ahead log.
 */
function unmoved(path: string): () => void {
  const inode = () => statSync(path, { bigint: true, throwIfNoEntry: false })?.ino;
  const opened = inode();
  return () => {
    if (inode() === opened) return;
    const error = new Error('another file is at the path of the database');
    throw away(Object.assign(error, { code: 'SQLITE_READONLY_DBMOVED' }));
  };
}

/**
 * A column of 4100 bytes that moves the keys of a row to overflow pages. When SQLite moves a row to another b-tree page,
 * a copy stays in the gap between cells, which `secure_delete` does not overwrite. Overflow pages are never moved, and
 * overwritten when freed; at most 4061 bytes of a row are outside of them, with pages of 4096 bytes. Costs 4.5 kB of
 * disk per active push, and 0.03 ms when it is created, a hundredth of the sync.
 */
const filler = ' filler BLOB DEFAULT (zeroblob(4100)),';

function overConnection(
  connection: SqliteConnection,
  space: Storage,
  sleep: Sleep | undefined,
  refuseMoved = () => {},
): Database {
  /** The error of the last statement that failed with the file. */
  let failure: unknown;
  const noting = async <R>(work: Promise<R>) => {
    try {
      return await work;
    } catch (error) {
      if (isDamaged(error) || isDiskFailure(error)) failure = error;
      throw error;
    }
  };
  const { run, forget } = prepared(connection);
  const queue = createQueue();
  const commit = groupCommit(connection, queue, refuseMoved);
  const noted: typeof commit = (work, alone) => noting(commit(work, alone));
  const single = transacting(connection, run, space, queue, noted, sleep);
  const transaction: Database['transaction'] = async (work, how) => {
    const result = await single(work, how);
    failure = undefined;
    return result;
  };
  const read: Sql = (strings, ...values) => {
    const once = () => orLocked(() => run(strings, ...values));
    return noting(retryWhileLocked(() => queue(once), sleep)) as never;
  };
  const check = checking({ sql: read, transaction: single });
  let scrubbing: Promise<boolean> | undefined;
  return {
    dialect: { blob: 'BLOB', identity: 'INTEGER PRIMARY KEY AUTOINCREMENT', filler },
    sql: <R>(strings: TemplateStringsArray, ...values: Value[]) =>
      // A write that runs alone would stay unfinished when it does not get the lock, and with libsql (0.5.29) nothing
      // could be committed until it is garbage-collected.
      isRead(strings) === false
        ? transaction((sql) => sql<R>(strings, ...values))
        : read<R>(strings, ...values),
    transaction,
    async check() {
      if (failure !== undefined) throw failure;
      refuseMoved();
      // Without its cache, SQLite has to read the file.
      await queue(async () => pragma(connection, 'shrink_memory'));
      await check();
    },
    // BEGIN IMMEDIATE makes every transaction exclusive.
    exclusively: (work) => transaction(work),
    async solely(work) {
      if (!(await queue(async () => isAlone(connection)))) throw inUse();
      return transaction(work);
    },
    scrub() {
      // One checkpoint, which costs as much as four commits, for all that committed before it starts. Those that arrived
      // during the last commit join it: they commit in the round between.
      scrubbing ??= nextRound()
        .then(nextRound)
        .then(() =>
          queue(async () => {
            scrubbing = undefined;
            return checkpoint(connection);
          }),
        );
      return scrubbing;
    },
    alone: () => queue(async () => isAlone(connection)),
    time: async () => undefined,
    free: async () => there(() => space.free()),
    unused: () => queue(async () => Number(pragma(connection, 'freelist_count')) * PAGE),
    setAside: async () => there(() => space.reserve()),
    // `node:sqlite`, unlike libsql, throws when it is closed twice.
    close: lazy(async () => {
      // Lets the current group commit first.
      await nextRound();
      await queue(async () => {
        checkpoint(connection);
        forget();
        connection.close();
      });
    }),
  };
}

/** Asks about the disk, whose folder may have been moved, or unmounted. */
function there<T>(ask: () => T): T {
  try {
    return ask();
  } catch (error) {
    throw away(error);
  }
}

function transacting(
  connection: SqliteConnection,
  run: Sql,
  space: Storage,
  queue: Queue,
  commit: ReturnType<typeof groupCommit>,
  sleep: Sleep | undefined,
): Database['transaction'] {
  return async (work, { frees = false } = {}) => {
    const attempt = (alone: boolean) =>
      retryWhileLocked(() => commit(() => work(run), alone), sleep);
    try {
      return await attempt(false).catch(async (error: unknown) => {
        if (!isFull(error)) throw error;
        await queue(async () => {
          if (frees) space.release();
          // The transaction that was rolled back has used space in the write-ahead log.
          checkpoint(connection);
        });
        if (!frees) throw error;
        return attempt(true);
      });
    } catch (error) {
      if (isFull(error)) throw full(error);
      throw isDiskFailure(error) ? away(error) : error;
    }
  };
}

/**
 * Prepares each statement of the program once, because preparing takes as long as running. libsql keeps a closed
 * database open while there are statements; `forget` drops them.
 */
function prepared(connection: SqliteConnection): { run: Sql; forget: () => void } {
  let known = new WeakMap<TemplateStringsArray, SqliteStatement>();
  const run: Sql = async <R>(strings: TemplateStringsArray, ...values: Value[]) => {
    const statement = known.get(strings) ?? connection.prepare(strings.join('?'));
    // A statement is not used again after an error: libsql (0.5.29) does not reset it.
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

/** Leaving WAL mode succeeds only for the sole connection of a file. */
function isAlone(connection: SqliteConnection): boolean {
  try {
    return pragma(connection, 'journal_mode = DELETE') === 'delete';
  } catch {
    return false;
  } finally {
    pragma(connection, 'journal_mode = WAL');
  }
}

/** Empties the write-ahead log, which holds old pages, keys among them; returns false when a reader prevents it. */
function checkpoint(connection: SqliteConnection): boolean {
  try {
    return pragma(connection, 'wal_checkpoint(TRUNCATE)') === 0;
  } catch {
    // Another process has the lock: the next expiry or sweep of either tries again.
    return false;
  }
}
