import { closeSync, constants, fchmodSync, openSync } from 'node:fs';
import { createRequire } from 'node:module';
import { ServiceError } from '../service-error';
import type { Sleep } from './busy-retry';
import type { Database, Value } from './sql';
import { type Native, overNative } from './sqlite-database';

/** Calls `load` without letting Node's warning about `node:sqlite` reach the user. */
export type Quietly = <T>(load: () => T) => T;

type Open = (path: string) => Native;

const pragmas = [
  // What the filler in `native.ts` counts on; it is SQLite's own default, and fixed once there are tables.
  'page_size = 4096',
  // Asking for the lock comes first, so that the switch to WAL waits for another program, too.
  'busy_timeout = 5000',
  'journal_mode = WAL',
  // An answered view is on the disk: the log is synced at every commit (service.md, promise 4).
  'synchronous = FULL',
  // Pages that are freed are overwritten with zeros (promise 2); for rows inside of them, see `filler`.
  'secure_delete = ON',
  'foreign_keys = ON',
  // What a savepoint would bring back stands in no file either: old pages, keys among them.
  'temp_store = MEMORY',
  // From here on nothing waits inside SQLite, where everything else would stand still: see `patiently`.
  'busy_timeout = 0',
];

/** Opens the database file at `path` (0600, made when missing), or one in memory for `:memory:`. */
export async function openSqlite(path: string, quietly: Quietly, sleep?: Sleep): Promise<Database> {
  const open = nodeSqlite(quietly) ?? (await libsql());
  if (path !== ':memory:') ownerOnly(path);
  const native = open(path);
  try {
    for (const pragma of pragmas) native.prepare(`PRAGMA ${pragma}`).all([]);
  } catch (error) {
    native.close();
    throw error;
  }
  return overNative(native, { sleep, file: path === ':memory:' ? undefined : path });
}

/**
 * The log and its index inherit the mode of the file they belong to. A symbolic link is not followed (ELOOP): root would
 * change the mode of whatever it leads to.
 */
function ownerOnly(path: string): void {
  const { O_RDWR, O_CREAT, O_NOFOLLOW = 0 } = constants;
  const file = openSync(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0o600);
  fchmodSync(file, 0o600);
  closeSync(file);
}

interface NodeSqlite {
  DatabaseSync: new (
    path: string,
  ) => {
    exec(sql: string): void;
    prepare(sql: string): { all(...values: Value[]): unknown[] };
    close(): void;
  };
}

/** Node's own SQLite (22.13 and later), or nothing. `import()` would warn a moment later, out of `quietly`'s reach. */
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

async function libsql(): Promise<Open> {
  const { default: Libsql } = await import('libsql').catch((cause: unknown) => {
    throw new ServiceError('no SQLite was found', {
      hint: 'use Node 22.13 or later, or install the optional package libsql',
      cause,
    });
  });
  return (path) => {
    const database = new Libsql(path);
    return {
      exec: (sql) => void database.exec(sql),
      prepare(sql) {
        const statement = database.prepare(sql);
        // Values go as one array: libsql takes a lone buffer or null for named parameters. Only `all` is used: a
        // second `get` on a statement returns values of the first (0.5.29).
        return { all: (values) => statement.all(values).map(withBuffers) };
      },
      close: () => void database.close(),
    };
  };
}

/** `all` of libsql answers an ArrayBuffer where everybody else has a Uint8Array. */
function withBuffers(row: unknown): unknown {
  const values = row as Record<string, unknown>;
  for (const column in values) {
    const value = values[column];
    if (value instanceof ArrayBuffer) values[column] = new Uint8Array(value);
  }
  return values;
}
