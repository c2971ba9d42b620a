import { ServiceRefusal } from '../service-errors';

/** A column value in the common subset of SQLite and PostgreSQL. Flags are 0 and 1, times are milliseconds. */
export type Value = string | number | Uint8Array | null;

/** Runs one statement, written as a tagged template, and returns its rows. */
export type Sql = <R>(strings: TemplateStringsArray, ...values: Value[]) => Promise<R[]>;

/** SQL of migrations that differs between SQLite and PostgreSQL. */
export interface Dialect {
  readonly blob: string;
  /** The type of a primary key that is never used again after its row is deleted: running code may remember an id. */
  readonly identity: string;
  /** A column that moves later ones to SQLite's overflow pages, which are overwritten when freed; '' for PostgreSQL. */
  readonly filler: string;
}

interface Sharing {
  readonly frees?: boolean;
  readonly key?: string;
}

/** Texts of statements about tables and their ids. */
export interface Catalog {
  /** Returns the `name` of each table. */
  readonly tables: string;
  /** Returns as `last` the largest id that rows of the table ever had; null, or no row, if there were none. */
  lastId(table: string, column: string): string;
  /** Gives the ids of later rows: `last` and smaller ones are never used. */
  setLastId(table: string, column: string, last: number): readonly string[];
}

export interface Database {
  readonly dialect: Dialect;
  readonly catalog: Catalog;
  readonly sql: Sql;
  /**
   * Runs `work` in a transaction. `work` may await only its own statements, not a timer, a socket or a hash, and write
   * a few MiB at most, because other transactions wait for it. It may run several times; its side effects outside of
   * the database count only when the transaction resolves. With `frees`, it may use the space reserved for a full
   * disk. With a `key`, it may share a transaction with work of other keys, whose rows it must not read or write.
   * @throws ServiceRefusal when the disk is full or fails, the database is locked too long, or the server does not
   *   respond
   */
  transaction<T>(work: (sql: Sql) => Promise<T>, options?: Sharing): Promise<T>;
  /** Runs `work` like `transaction`, but one at a time in all processes that use this database. */
  exclusively<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /**
   * Runs `work` like `exclusively` while no other process has this database open, or can open it.
   * @throws ServiceError when another process has it open
   */
  solely<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /** Whether other processes have this database open; without any, whether they may open it at any time. */
  others(): Promise<'some' | 'none' | 'none yet'>;
  /**
   * Removes deleted and overwritten data from the write-ahead log. Returns false when a reader prevents it; the next
   * call tries again.
   */
  scrub(): Promise<boolean>;
  /**
   * Reads a row, and at most ten times a second writes one and looks for space. Rejects when that fails, and for ever
   * once the file was found to be damaged. Returns when the last writing began (`performance.now`).
   */
  check(): Promise<number>;
  /** Milliseconds since 1970 by the clock of the database server; undefined for SQLite. */
  time(): Promise<number | undefined>;
  /**
   * Bytes free on the disk or, for a database in memory, below its limit, and bytes of the database; undefined for
   * PostgreSQL.
   */
  space(): Promise<{ readonly free: number; readonly size: number } | undefined>;
  /** Bytes of unused pages in the database's file. */
  unused(): Promise<number>;
  /** Reserves space for transactions that free space, if the disk has enough. */
  setAside(): Promise<void>;
  close(): Promise<void>;
}

/** Makes a statement from text with `?` for each value. Make a frequent one only once: each object is prepared. */
export function plain(text: string): TemplateStringsArray {
  const strings = text.split('?');
  return Object.assign(strings, { raw: strings });
}

export type ColumnType = 'BIGINT' | 'TEXT' | 'BYTEA';

/** The type of a column with values `T`; `values` exists for the compiler alone. */
export type SqlColumn<T> = ColumnType & { readonly values?: T };

export const TEXT = 'TEXT' as SqlColumn<string>;
export const BIGINT = 'BIGINT' as SqlColumn<number>;
export const BYTEA = 'BYTEA' as SqlColumn<Uint8Array>;
/** SQLite and PostgreSQL share no boolean type, so a flag is an integer. */
export const FLAG = 'BIGINT' as SqlColumn<0 | 1>;

export const nullable = <T>(column: SqlColumn<T>) => column as SqlColumn<T | null>;

export type RowOf<Columns> = {
  -readonly [C in keyof Columns]: Columns[C] extends SqlColumn<infer T> ? T : never;
};

/** A statement with rows of values named `input`. PostgreSQL runs it once for the rows of several callers. */
export interface RowStatement extends TemplateStringsArray {
  /** The statement for several rows, with an array of values for each column of `input`. */
  readonly ofMany: TemplateStringsArray;
  /** The result column that repeats the first value of the input row, by which callers find their results. */
  readonly by: string | undefined;
}

/** Whether a statement only reads; undefined when that is unknown. */
export function isRead(strings: TemplateStringsArray & { readonly reads?: boolean }) {
  if (strings.reads !== undefined) return strings.reads;
  const [, word] = /^\s*(SELECT|INSERT|UPDATE|DELETE)\b/.exec(strings[0] as string) ?? [];
  return word && word === 'SELECT';
}

export function isRowStatement(strings: TemplateStringsArray): strings is RowStatement {
  return 'ofMany' in strings;
}

export async function first<R>(rows: Promise<readonly R[]>): Promise<R | undefined> {
  return (await rows)[0];
}

export async function hasRows(rows: Promise<readonly unknown[]>): Promise<boolean> {
  return (await rows).length > 0;
}

/** Runs a `RowStatement` with one input row, and returns its result row, if any. */
type OnRow<C extends string, R> = (
  sql: Sql,
  row: Readonly<Record<C, Value>>,
) => Promise<R | undefined>;

export function onRows<R, C extends string = string>(
  columns: Readonly<Record<C, ColumnType>>,
  text: string,
  by?: string,
): OnRow<C, R> {
  const names = Object.keys(columns) as C[];
  const types = names.map((name) => columns[name]);
  const reads = text.startsWith('SELECT');
  const statementOn = (values: string) =>
    Object.assign(plain(`WITH input (${names}) AS (${values}) ${text}`), { reads });
  const statement: RowStatement = Object.assign(statementOn(`VALUES (${names.map(() => '?')})`), {
    ofMany: statementOn(`SELECT * FROM unnest(${types.map((type) => `CAST(? AS ${type}[])`)})`),
    by,
  });
  return (sql, row) => first(sql<R>(statement, ...names.map((name) => row[name])));
}

/** Makes an insertion. With `key`, the first column, the insertion returns the id and the key of a row. */
export function insertionOf<R, C extends string = string>(
  table: string,
  columns: Readonly<Record<C, ColumnType>>,
  key?: C,
): OnRow<C, R> {
  const insert = `INSERT INTO ${table} (${Object.keys(columns)}) SELECT * FROM input`;
  return onRows(columns, key === undefined ? insert : `${insert} RETURNING id, ${key}`, key);
}

export function mapped<K extends string, V, W>(
  object: Readonly<Record<K, V>>,
  change: (value: V, key: K) => W,
): Record<K, W> {
  const entries = Object.entries(object) as [K, V][];
  return Object.fromEntries(entries.map(([key, value]) => [key, change(value, key)])) as Record<
    K,
    W
  >;
}

/** Names of the result codes that `node:sqlite` reports as numbers (sqlite.org/rescode.html). */
const sqliteCodes: { readonly [number: number]: string } = {
  5: 'SQLITE_BUSY',
  8: 'SQLITE_READONLY',
  10: 'SQLITE_IOERR',
  11: 'SQLITE_CORRUPT',
  13: 'SQLITE_FULL',
  14: 'SQLITE_CANTOPEN',
  15: 'SQLITE_PROTOCOL',
  26: 'SQLITE_NOTADB',
  787: 'SQLITE_CONSTRAINT_FOREIGNKEY',
};

/**
 * Returns the code of a database error, or of the cause of a refusal: SQLite's name, PostgreSQL's SQLSTATE or the system's
 * code; '' without one.
 */
export function sqlCode(error: unknown): string {
  const own = error instanceof ServiceRefusal ? error.cause : error;
  const { code, errcode } = (own ?? {}) as { code?: unknown; errcode?: unknown };
  const number = Number(errcode);
  return sqliteCodes[number] ?? sqliteCodes[number & 0xff] ?? (code === undefined ? '' : `${code}`);
}

export const hasCode = (error: unknown, ...codes: string[]) => codes.includes(sqlCode(error));

export const isFull = (error: unknown) => hasCode(error, 'SQLITE_FULL', '53100', 'ENOSPC');

/**
 * Makes `Database.check`. Any client may trigger a check, so it must not keep the disk busy.
 * @param needSpace rejects when the disk is full: a row finds room on it nevertheless
 */
export function checking(
  { sql, transaction }: Pick<Database, 'sql' | 'transaction'>,
  needSpace: (sql: Sql) => Promise<unknown>,
) {
  let checkedAt = Number.NEGATIVE_INFINITY;
  return async (): Promise<number> => {
    await sql`SELECT id FROM pushes ORDER BY id DESC LIMIT 1`;
    const began = performance.now();
    if (began - checkedAt < 100) return checkedAt;
    await transaction(async (own) => {
      await needSpace(own);
      // SQLite and PostgreSQL write nothing of an update that changes no value, or little.
      await own`UPDATE migrations SET checks = checks + 1`;
    });
    checkedAt = began;
    return began;
  };
}

/** Whether the disk of a SQLite file fails, or is read-only, as a file system may become after an error. */
export function isDiskFailure(error: unknown): boolean {
  return /^SQLITE_(?:READONLY|IOERR|CANTOPEN)/.test(sqlCode(error));
}

export function isDamaged(error: unknown): boolean {
  return /^SQLITE_(?:CORRUPT|NOTADB)/.test(sqlCode(error));
}

export const violatesReference = (error: unknown) =>
  hasCode(error, 'SQLITE_CONSTRAINT_FOREIGNKEY', '23503');

/** Returns as many of the first rows as have at most `most` bytes of payload together, but at least one. */
export function limitBytes<R extends { readonly bytes: number }>(rows: readonly R[], most: number) {
  let bytes = 0;
  const end = rows.findIndex((row, i) => {
    bytes += row.bytes;
    return bytes > most && i > 0;
  });
  return end < 0 ? [...rows] : rows.slice(0, end);
}
