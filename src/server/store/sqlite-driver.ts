import { createRequire } from 'node:module';
import { ServiceError } from '../service-errors';
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
      exec: (sql) => void database.exec(sql),
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
      close: () => void database.close(),
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

/**
 * Leaving WAL mode succeeds only for the sole connection of a file. A database in memory never has that mode.
 * @param locking `EXCLUSIVE` keeps other connections out from the switch back to WAL until the next call; if one comes
 *   in before, no transaction can begin
 */
export function isAlone(
  connection: SqliteConnection,
  locking: 'NORMAL' | 'EXCLUSIVE' = 'NORMAL',
): boolean {
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

/** Empties the write-ahead log, which contains old pages with keys; returns false when a reader prevents it. */
export function checkpoint(connection: SqliteConnection): boolean {
  try {
    return pragma(connection, 'wal_checkpoint(TRUNCATE)') === 0;
  } catch {
    // Another process has the lock. The next expiry or sweep of either process tries again.
    return false;
  }
}
