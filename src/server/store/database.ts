import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ServiceError, ServiceRefusal } from '../service-errors';
import type { ServiceIo, ServiceSettings } from '../service-settings';
import { markError, markOf } from './moved';
import { readAddress, type Variables } from './pg-url';
import schema from './schema-1.sql?raw';
import { type Database, type Dialect, isDamaged, plain, sqlCode } from './sql';
import { openMemory, openSqlite } from './sqlite';

const FILE = 'pwpush.db';

export interface DataLocation
  extends Pick<ServiceSettings, 'data' | 'database' | 'instanceKeyFile'>,
    Partial<Pick<ServiceSettings, 'ephemeral'>> {
  /** Bytes that a database in memory may take. */
  readonly memory?: number | undefined;
}

export function keyFileOf({ data, instanceKeyFile }: DataLocation): string {
  return instanceKeyFile ?? join(data, 'instance.key');
}

/** Returns the path of a SQLite database, which need not exist. */
export const pathIn = (data: string) => join(data, FILE);

export interface DatabaseIo extends Pick<ServiceIo, 'quietly' | 'env'> {
  /** Whether data may be opened that no service may use (`serve copy`). */
  readonly moved?: boolean;
}

/** Makes a `ServiceError` of a `ServiceRefusal` outside of an HTTP request; returns any other error as it is. */
export function asServiceError(error: unknown): unknown {
  if (!(error instanceof ServiceRefusal)) return error;
  if (error.cause instanceof ServiceError) return error.cause;
  const code = sqlCode(error.cause);
  const messages: { readonly [kind: string]: string } = {
    away: code ? `the data cannot be used (${code})` : 'the database does not respond',
    full: 'the disk is full',
  };
  return new ServiceError(messages[error.kind] ?? 'the data is in use by another program', {
    cause: error,
  });
}

/**
 * Opens the database, created when missing, and migrates it to the current schema.
 * @param isNew called before tables are made, again when the transaction is retried; if it throws, nothing is made
 * @throws ServiceError
 */
export async function openDatabase(
  location: DataLocation,
  io: DatabaseIo,
  isNew?: () => void,
): Promise<Database> {
  let database: Database | undefined;
  try {
    database = await open(location, io);
    await migrate(database, isNew);
    const mark = io.moved ? undefined : await markOf(database);
    if (mark) throw markError(mark);
    return database;
  } catch (error) {
    await database?.close();
    throw error instanceof ServiceError ? error : openError(error, location);
  }
}

/**
 * Opens a database that a service has created.
 * @param otherwise appended to the hint when the database is missing
 * @throws ServiceError when it is missing or cannot be opened
 */
export async function openExisting(
  location: DataLocation,
  io: DatabaseIo,
  otherwise?: string,
): Promise<Database> {
  fileOf(location, otherwise);
  const isNew = () => {
    throw missing(location, otherwise);
  };
  return openDatabase(location, io, isNew);
}

/** Closes the database after `work`. */
export async function using<T>(
  opening: Promise<Database>,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const database = await opening;
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/**
 * Names the data for people: by the absolute path of its file, or by its hosts and name.
 * @throws ServiceError for an invalid address
 */
export function dataName({ data, database }: DataLocation, env?: Variables): string {
  if (database === undefined) return `SQLite "${resolve(pathIn(data))}"`;
  const { hosts, database: name } = readAddress(database, env);
  return `PostgreSQL ${hosts.map(({ host, port }) => `${host}:${port}`)}/${name}`;
}

function missing(location: DataLocation, otherwise = ''): ServiceError {
  const [message, instead] =
    location.database === undefined
      ? [`no database in "${location.data}"`, '--data with the folder']
      : ['no service has used that PostgreSQL database', '--database with the address'];
  return new ServiceError(message, { hint: `use ${instead} of the service${otherwise}` });
}

/**
 * Returns the path of a database that a service has created; undefined for PostgreSQL.
 * @throws ServiceError when it is missing
 */
export function fileOf(location: DataLocation, otherwise?: string): string | undefined {
  const { data, database } = location;
  if (database !== undefined) return undefined;
  const file = pathIn(data);
  // When `data` is not a folder, opening the file reports that.
  const folder = statSync(data, { throwIfNoEntry: false })?.isDirectory() ?? true;
  if (existsSync(file) || !folder) {
    refuseEmpty(file, location);
    return file;
  }
  throw missing(location, otherwise);
}

/** An empty file beside an instance key is not new data but lost data. */
function refuseEmpty(file: string, location: DataLocation): void {
  const key = keyFileOf(location);
  if (!existsSync(file) || statSync(file).size > 0 || !existsSync(key)) return;
  throw new ServiceError(`"${file}" is empty, although the instance key "${key}" exists`, {
    hint: 'restore the database from a backup, or remove the empty file to start without data',
  });
}

function openError(cause: unknown, { data, database }: DataLocation): unknown {
  if (cause instanceof ServiceRefusal && !isDamaged(cause)) return asServiceError(cause);
  const code = sqlCode(cause);
  const failure = `cannot be opened${code && ` (${code})`}`;
  if (database === undefined) {
    const hint = hintFor[code] ?? 'choose a folder of your own with --data';
    return new ServiceError(`the data in "${data}" ${failure}`, { hint, cause });
  }
  const hint = 'use a database of its own, in which the user can create tables';
  return new ServiceError(`the database ${failure}`, { hint, cause });
}

const damaged = 'the database is damaged: restore it from a backup with pwpush serve restore';
const foreign =
  'make it belong to the user of the service, 65532 in the container image (chown), or choose another folder';
const hintFor: { readonly [code: string]: string } = {
  SQLITE_CORRUPT: damaged,
  SQLITE_NOTADB: damaged,
  EACCES: foreign,
  EPERM: foreign,
  SQLITE_CANTOPEN: foreign,
  SQLITE_READONLY: foreign,
  ELOOP: 'pwpush.db is a symbolic link: use --data with the folder of the database itself',
};

async function open(
  location: DataLocation,
  { quietly = (load) => load(), env }: DatabaseIo,
): Promise<Database> {
  if (location.ephemeral) return openMemory(quietly, location.memory);
  if (location.database !== undefined) {
    const { database } = location;
    const address = () => readAddress(database, env);
    // A mistake in the address is reported before the driver is loaded, because loading takes 5 ms and 200 KiB.
    address();
    const { openPostgres } = await import('./postgres');
    return openPostgres(address);
  }
  mkdirSync(location.data, { recursive: true, mode: 0o700 });
  const file = pathIn(location.data);
  refuseEmpty(file, location);
  return openSqlite(file, quietly);
}

/**
 * One entry per release. Never edit an entry after its release: data with another text is refused. Braces enclose a name of
 * `Dialect`.
 */
const migrations = [schema];

export interface Table {
  readonly name: string;
  /** The columns of the primary key. */
  readonly key: readonly string[];
  /** Whether the database gives its rows their key. */
  readonly isNumbered: boolean;
}

/** The tables of the schema; those to which one refers come before it. */
export function tablesOf(): Table[] {
  const texts = migrations.flatMap((text) => text.match(/^CREATE TABLE \w+ \($.+?^\)/gms) ?? []);
  return texts.map((text) => {
    const [, name = ''] = /^CREATE TABLE (\w+)/.exec(text) ?? [];
    const [, id] = /^ {2}(\w+) \{identity\}/m.exec(text) ?? [];
    const [, one] = /^ {2}(\w+) \w+ PRIMARY KEY/m.exec(text) ?? [];
    const [, several = ''] = /PRIMARY KEY \(([^)]+)\)/.exec(text) ?? [];
    const column = id ?? one;
    const key = column === undefined ? several.split(', ') : [column];
    return { name, key, isNumbered: id !== undefined };
  });
}

const statementsOf = (migration: string, dialect: Dialect): string[] =>
  migration
    .replaceAll(/\{(\w+)\}/g, (_, name: keyof Dialect) => dialect[name])
    .split(/;\n(?:\n|$)/)
    .filter(Boolean);

const digests = migrations.map((text) => createHash('sha256').update(text).digest('hex'));

/**
 * Migrates the database to the current schema.
 * @throws ServiceError when a later version has migrated it, or a build whose migrations had another text
 */
export async function migrate(database: Database, isNew = () => {}): Promise<void> {
  await database.exclusively(async (sql) => {
    await sql`
      CREATE TABLE IF NOT EXISTS migrations (
        id BIGINT PRIMARY KEY, digest TEXT NOT NULL, checks BIGINT NOT NULL DEFAULT 0)`;
    // All columns, as the table of an old build has no `digest`.
    const done = await sql<{ digest?: string }>`SELECT * FROM migrations ORDER BY id`;
    if (done.length > migrations.length)
      throw new ServiceError('the data was written by a later version');
    if (done.some(({ digest }, index) => digest !== digests[index]))
      throw new ServiceError('the data is of a build before the first release', {
        hint: 'open it with that build, or choose other data with --data or --database',
      });
    if (done.length === 0) isNew();
    for (const [index, statements] of migrations.entries()) {
      if (index < done.length) continue;
      for (const text of statementsOf(statements, database.dialect)) await sql(plain(text));
      await sql`INSERT INTO migrations (id, digest) VALUES (${index}, ${digests[index] as string})`;
    }
  });
}
