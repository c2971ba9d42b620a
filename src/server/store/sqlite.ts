import { closeSync, constants, fchmodSync, openSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { lazy } from '../../contract/lazy';
import { inUse, ServiceError } from '../service-errors';
import { type Database, isDamaged, sqlCode } from './sql';
import { overConnection, type Sleep } from './sqlite-database';
import {
  catalog,
  type Open,
  OpenFiles,
  pragma,
  prepared,
  type Quietly,
  type SqliteConnection,
  sqliteDriver,
} from './sqlite-driver';
import { Disk, Memory, PAGE } from './sqlite-space';

const pragmas = [
  // `filler` (sqlite-database.ts) relies on SQLite's default page size, which is fixed once there are tables.
  `page_size = ${PAGE}`,
  // The switch to WAL below waits up to 5 s for other processes.
  'busy_timeout = 5000',
  'journal_mode = WAL',
  // SQLite syncs the write-ahead log at every commit, so that a view is on disk before its secret is sent.
  'synchronous = FULL',
  // SQLite overwrites freed pages with zeros; `filler` covers rows that move within pages.
  'secure_delete = ON',
  'foreign_keys = ON',
  // Savepoint journals, which contain old pages with keys, are kept out of files.
  'temp_store = MEMORY',
  // SQLite must not wait for locks itself, because this would block the event loop; `retryWhileLocked` waits.
  'busy_timeout = 0',
];

/**
 * Opens the database file at `path` (0600, created when missing).
 * @throws ServiceError when there is no SQLite library; otherwise an error of SQLite or the system
 */
export async function openSqlite(path: string, quietly: Quietly, sleep?: Sleep): Promise<Database> {
  const connect = await sqliteDriver(quietly);
  ownerOnly(path);
  const files = new OpenFiles(path);
  try {
    return overConnection(opened(connect, path, files), new Disk(path), sleep, files);
  } catch (error) {
    throw lockError(error, path, connect);
  }
}

/**
 * @param most maximum bytes of the database
 * @throws ServiceError when there is no SQLite library
 */
export async function openMemory(
  quietly: Quietly,
  most = Number.MAX_SAFE_INTEGER,
): Promise<Database> {
  const connection = opened(await sqliteDriver(quietly), ':memory:');
  return overConnection(connection, new Memory(connection, most));
}

/**
 * Keeps all programs from the database at `path`, with its write-ahead log merged into it, until `unlock` is called.
 * Until then only `sql` reads it. Returns undefined for a damaged database, which has no lock.
 * @throws ServiceError when another program has it open
 */
export async function lockSqlite(path: string, quietly: Quietly) {
  const connect = await sqliteDriver(quietly);
  ownerOnly(path);
  const connection = connect(path);
  try {
    // Only the sole connection leaves WAL; the second look is for one that came in between.
    pragma(connection, 'journal_mode = DELETE');
    connection.exec('BEGIN EXCLUSIVE');
    if (pragma(connection, 'journal_mode') !== 'delete') throw inUse();
  } catch (error) {
    connection.close();
    if (isDamaged(error)) return undefined;
    throw lockError(error, path, connect);
  }
  const { run: sql, forget } = prepared(connection);
  const unlock = lazy(() => {
    forget();
    connection.exec('ROLLBACK');
    connection.close();
  });
  return { sql, catalog, unlock };
}

/**
 * Tells a file that another program has locked from a file system that has no locks, where SQLite says the same: there, a
 * file that nobody else has is locked, too. Returns any other error as it is.
 */
function lockError(error: unknown, path: string, connect: Open): unknown {
  const isLock = (one: unknown) => /^SQLITE_(BUSY|PROTOCOL|IOERR_\w*LOCK)/.test(sqlCode(one));
  if (!isLock(error)) return error;
  const probe = `${path}.probe`;
  try {
    const connection = connect(probe);
    try {
      pragma(connection, 'schema_version');
    } finally {
      connection.close();
    }
    return inUse();
  } catch (cause) {
    if (!isLock(cause)) return error;
    const hint =
      'it may have none, as SMB and NFS: use a local disk with --data, or PostgreSQL with --database';
    const message = `the file system of "${dirname(path)}" refuses locks (${sqlCode(cause)})`;
    return new ServiceError(message, { hint, cause });
  } finally {
    rmSync(probe, { force: true });
  }
}

function opened(connect: Open, path: string, files?: OpenFiles): SqliteConnection {
  const connection = connect(path);
  try {
    for (const text of pragmas) pragma(connection, text);
    files?.remember(connection);
  } catch (error) {
    (files ?? connection).close(connection);
    throw error;
  }
  return connection;
}

/**
 * Sets mode 0600, which `-wal` and `-shm` inherit. Does not follow a symbolic link (ELOOP), because root would change
 * the mode of its target.
 */
function ownerOnly(path: string): void {
  const { O_RDWR, O_CREAT, O_NOFOLLOW = 0 } = constants;
  const file = openSync(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0o600);
  fchmodSync(file, 0o600);
  closeSync(file);
}
