import { closeSync, ftruncateSync, openSync, readSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { away, ServiceError } from '../service-errors';
import type { Catalog, Sql, Value } from './sql';

/** Calls `load` while Node's warning that `node:sqlite` is experimental is suppressed. */
export type Quietly = <T>(load: () => T) => T;

/** The common interface of `node:sqlite` and libsql. */
export interface SqliteConnection {
  exec(sql: string): void;
  prepare(sql: string): SqliteStatement;
  close(): void;
}

export interface SqliteStatement {
  all(values: Value[]): unknown[];
}

export type Open = (path: string) => SqliteConnection;

/** Runs a PRAGMA and returns the first column of its first row. */
export function pragma(connection: SqliteConnection, text: string): unknown {
  const [row] = connection.prepare(`PRAGMA ${text}`).all([]);
  return Object.values(row ?? {})[0];
}

/**
 * Loads the SQLite of Node.js, or else libsql.
 * @throws ServiceError when there is neither
 */
export async function sqliteDriver(quietly: Quietly): Promise<Open> {
  return nodeSqlite(quietly) ?? (await libsql());
}

interface NodeSqlite {
  DatabaseSync: new (
    path: string,
  ) => Omit<SqliteConnection, 'prepare'> & {
    prepare(sql: string): { all(...values: Value[]): unknown[] };
  };
}

/** Loads `node:sqlite` (Node 22.13 and later). `import()` is not used: it warns after `quietly` has returned. */
function nodeSqlite(quietly: Quietly): Open | undefined {
  let module: NodeSqlite;
  try {
    module = quietly(() => createRequire('/')('node:sqlite') as NodeSqlite);
  } catch {
    return undefined;
  }
  return (path) => {
    const database = new module.DatabaseSync(path);
    return {
      exec: (sql) => database.exec(sql),
      prepare(sql) {
        const statement = database.prepare(sql);
        return { all: (values) => statement.all(...values) };
      },
      close: () => database.close(),
    };
  };
}

/** Loads libsql, an optional package, for a Node.js without SQLite. */
async function libsql(): Promise<Open> {
  const { default: Libsql } = await import('libsql').catch((cause: unknown) => {
    // Where this program is installed need not be the prefix that npm has now.
    const [, prefix] = /^(.+)\/lib\/node_modules\/pwpush\//.exec(__dirname) ?? [];
    const where = prefix === undefined ? '' : `--prefix '${prefix}' `;
    throw new ServiceError('no SQLite found, which serve and --here need', {
      hint: 'use Node.js 22.13 or later, or install the package libsql, which npm may have left out',
      command: `npm install --global ${where}libsql`,
      cause,
    });
  });
  return (path) => {
    const database = new Libsql(path);
    return {
      exec: (sql) => database.exec(sql),
      prepare(sql) {
        const statement = database.prepare(sql);
        // The values are one array, because libsql takes a single buffer or null for named parameters.
        if (!statement.reader) {
          return {
            all(values) {
              statement.run(values);
              return [];
            },
          };
        }
        const names = statement.columns().map(({ name }) => name);
        // Rows are arrays, because libsql takes longer to make an object than for all other work. `get` is not used: a
        // second `get` on a statement returns the values of the first (0.5.29).
        const rows = statement.raw();
        return {
          all: (values) => rows.all(values).map((row) => objectOf(names, row as unknown[])),
        };
      },
      close: () => database.close(),
    };
  };
}

/** Makes an object of a row. libsql returns blobs as ArrayBuffer, `node:sqlite` as Uint8Array. */
function objectOf(names: readonly string[], values: readonly unknown[]): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  for (const [index, name] of names.entries()) {
    const value = values[index];
    row[name] = value instanceof ArrayBuffer ? new Uint8Array(value) : value;
  }
  return row;
}

export interface Statements extends Pick<SqliteConnection, 'exec'> {
  readonly run: Sql;
}

/**
 * Prepares each statement of the program once, because preparing takes as long as running. `forget` drops the
 * statements: libsql keeps a closed database open while there are any.
 */
export function prepared(
  connection: SqliteConnection,
): Statements & { readonly forget: () => void } {
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
    exec: (sql) => connection.exec(sql),
    run,
    forget() {
      known = new WeakMap();
    },
  };
}

export const catalog: Catalog = {
  tables: `SELECT name FROM sqlite_master WHERE type = 'table'`,
  lastId: (table) => `SELECT seq AS last FROM sqlite_sequence WHERE name = '${table}'`,
  setLastId: (table, _, last) => [
    `DELETE FROM sqlite_sequence WHERE name = '${table}'`,
    `INSERT INTO sqlite_sequence (name, seq) VALUES ('${table}', ${last})`,
  ],
};

export type Locking = 'NORMAL' | 'EXCLUSIVE';

/**
 * Leaving WAL mode succeeds only for the sole connection of a file. A database in memory never has that mode.
 * @param locking `EXCLUSIVE` keeps other connections out from the switch back to WAL until the next call; if one comes
 *   in before, nothing can be read
 */
export function isAlone(connection: SqliteConnection, locking: Locking = 'NORMAL'): boolean {
  try {
    if (pragma(connection, 'journal_mode = DELETE') === 'wal') return false;
    pragma(connection, `locking_mode = ${locking}`);
    return true;
  } catch {
    return false;
  } finally {
    pragma(connection, 'journal_mode = WAL');
  }
}

/**
 * Empties the write-ahead log, which contains old pages with keys; returns false when a reader prevents it.
 * @param refuse throws when the file must not be written to
 */
export function checkpoint(connection: SqliteConnection, refuse = () => {}): boolean {
  try {
    refuse();
    return pragma(connection, 'wal_checkpoint(TRUNCATE)') === 0;
  } catch {
    // Or another process has the lock. The next expiry or sweep of either process tries again.
    return false;
  }
}

/** Where the header of a SQLite file has its change counter, and the number of the restoration that made the file. */
const [HEADER, CHANGES, RESTORED] = [100, 24, 60];

/**
 * The files that SQLite has open. Others may replace, overwrite or remove them, which SQLite does not notice with a
 * write-ahead log: its checkpoints would write into what was restored, and the next start would lack what was confirmed.
 */
export class OpenFiles {
  /** Not closed before the connection: by POSIX, closing it ends all locks that this process has on the file. */
  private readonly file: number;
  private readonly inode: unknown;
  private log: number | undefined;
  private logs: unknown[] = [];
  private isMerged = false;
  private header: Buffer = Buffer.alloc(HEADER);

  /** Must be made before SQLite opens the file: one that is replaced meanwhile counts as replaced. */
  constructor(private readonly path: string) {
    this.file = openSync(path, 'r');
    this.inode = inodeOf(path);
  }

  /** Remembers the files as this connection has just opened them. */
  remember(connection: SqliteConnection): void {
    // SQLite opens the log when it first reads.
    pragma(connection, 'user_version');
    this.header = this.readHeader();
    const log = openSync(`${this.path}-wal`, 'r+');
    if (this.log !== undefined) closeSync(this.log);
    this.log = log;
    this.logs = this.inodesOfLogs();
  }

  /** @throws ServiceRefusal when the files are not those that were opened, or their content is from elsewhere */
  refuse(connection: SqliteConnection): void {
    this.refuseOverwritten(connection);
    const isMoved = inodeOf(this.path) !== this.inode;
    const isLost =
      isMoved || this.inodesOfLogs().some((inode, index) => inode !== this.logs[index]);
    // What was confirmed moves from the log, which has no name any more or would be merged into another file, into the
    // file that was opened. Only once: later, another service may use the names.
    if (isLost && !this.isMerged) checkpoint(connection);
    this.isMerged = isLost;
    if (isMoved) throw this.lost('was moved or replaced');
    if (isLost)
      throw this.lost('lost its write-ahead log, which somebody removed: restart the service');
  }

  /**
   * Any service on the file may checkpoint, which writes a header whose counter is not smaller. That of a backup is 1,
   * and that of an older copy is smaller, because a connection that finds a new header drops its pages: SQLite counts
   * from the page that it has read.
   * @throws ServiceRefusal
   */
  refuseOverwritten(connection: SqliteConnection): void {
    let header = this.readHeader();
    if (header.equals(this.header)) return;
    // Another process may just be writing it.
    if (!this.follows(header)) header = this.readHeader();
    if (!this.follows(header)) {
      // Even after a kill, the log must not be merged into what is there now: its own file is gone.
      if (this.log !== undefined) ftruncateSync(this.log);
      throw this.lost('was overwritten: restart the service');
    }
    this.header = header;
    pragma(connection, 'shrink_memory');
  }

  /** Closes the connection, which merges the log, but not into a file that was overwritten. */
  close(connection: SqliteConnection): void {
    try {
      this.refuseOverwritten(connection);
    } catch {
      // `refuseOverwritten` has emptied the log, and nobody waits for an answer here.
    }
    connection.close();
    for (const file of [this.file, this.log]) if (file !== undefined) closeSync(file);
  }

  private follows(header: Buffer): boolean {
    const [is, was] = [header, this.header];
    return (
      is.readUInt32BE(RESTORED) === was.readUInt32BE(RESTORED) &&
      is.readUInt32BE(CHANGES) >= was.readUInt32BE(CHANGES)
    );
  }

  private readHeader(): Buffer {
    const header = Buffer.alloc(HEADER);
    readSync(this.file, header, 0, HEADER, 0);
    return header;
  }

  private inodesOfLogs = () => ['-wal', '-shm'].map((end) => inodeOf(this.path + end));

  private lost = (how: string) => away(new ServiceError(`the database "${this.path}" ${how}`));
}

const inodeOf = (path: string) => statSync(path, { bigint: true, throwIfNoEntry: false })?.ino;
