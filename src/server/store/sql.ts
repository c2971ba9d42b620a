/** What a column holds, in the common subset of SQLite and PostgreSQL: flags are 0 and 1, times milliseconds. */
export type Value = string | number | Uint8Array | null;

/** Runs one statement, written as a tagged template, and returns its rows. */
export type Sql = <R>(strings: TemplateStringsArray, ...values: Value[]) => Promise<R[]>;

/** SQL that differs between the databases in migrations. */
export interface Dialect {
  readonly blob: string;
  readonly identity: string;
  /** A column that moves the following ones to where SQLite overwrites them when they are deleted; '' for PostgreSQL. */
  readonly filler: string;
}

export interface Database {
  readonly dialect: Dialect;
  readonly sql: Sql;
  /**
   * Runs `work` in a transaction. `work` may await only its own statements, not a timer, a socket or a hash, and write
   * a few MiB at most, because others wait for it. It may run several times; its side effects outside of the database
   * count only when this resolves. With `frees`, it may use the space reserved for a full disk.
   * @throws Refusal when the disk is full, the database is locked too long, or the server does not respond
   */
  transaction<T>(work: (sql: Sql) => Promise<T>, how?: { readonly frees?: boolean }): Promise<T>;
  /** Like `transaction`, with at most one running in all processes that use this database. */
  exclusively<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /**
   * Like `exclusively`, while no other process has this database open.
   * @throws ServiceError when one has
   */
  solely<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /** Whether this is the only connection to the database; false when that is unknown. */
  alone(): Promise<boolean>;
  /**
   * Removes deleted and overwritten data from the write-ahead log. Returns false when a reader prevents it; the next
   * call tries again.
   */
  scrub(): Promise<boolean>;
  /** Free bytes on the disk, or of what a database in memory may take; undefined for one on a server. */
  free(): number | undefined;
  /** Bytes of unused pages in the database's file. */
  unused(): Promise<number>;
  /** Reserves space for transactions that free space, if the disk has enough. */
  setAside(): Promise<void>;
  close(): Promise<void>;
}

/** A statement from plain text, its values as `?`. One that runs often is made once, as it is prepared once. */
export function plain(text: string): TemplateStringsArray {
  const strings = text.split('?');
  return Object.assign(strings, { raw: strings });
}

/** Whether an error has one of these codes: libsql's name, PostgreSQL's SQLSTATE, or `node:sqlite`'s number. */
export function hasCode(error: unknown, ...codes: (string | number)[]): boolean {
  const { code, errcode } = (error ?? {}) as { code?: unknown; errcode?: unknown };
  return codes.some((one) => one === code || one === errcode);
}

export const isFull = (error: unknown) => hasCode(error, 'SQLITE_FULL', '53100', 13);

/** Whether the error is a violated foreign key. */
export const violatesReference = (error: unknown) =>
  hasCode(error, 'SQLITE_CONSTRAINT_FOREIGNKEY', '23503', 787);

/** As many of the first rows as have `most` bytes of payload together, but at least one. */
export function limitBytes<R extends { readonly bytes: number }>(
  rows: readonly R[],
  most: number,
): R[] {
  let bytes = 0;
  const end = rows.findIndex((row, i) => {
    bytes += row.bytes;
    return bytes > most && i > 0;
  });
  return end < 0 ? [...rows] : rows.slice(0, end);
}
