/** What a column holds, in the common subset of SQLite and PostgreSQL: flags are 0 and 1, times milliseconds. */
export type Value = string | number | Uint8Array | null;

/** Runs one statement, written as a tagged template, and answers its rows. */
export type Sql = <R>(strings: TemplateStringsArray, ...values: Value[]) => Promise<R[]>;

/** The words a migration has to spell differently. */
export interface Dialect {
  readonly blob: string;
  readonly identity: string;
  /** A column that keeps what follows it in the row where deleting overwrites it; nothing where that is so anyway. */
  readonly filler: string;
}

export interface Database {
  readonly dialect: Dialect;
  readonly sql: Sql;
  /**
   * Runs `work` whole or not at all; it may await its own statements only, never a clock, a socket or a hash. Others
   * wait while it runs: it writes a few MiB at most. What `frees` space may use what is set aside for a full disk.
   * It may run again where it was undone, so what `work` leaves outside of the database counts only once this resolves.
   * Throws a `Refusal` when the disk is full.
   */
  transaction<T>(work: (sql: Sql) => Promise<T>, how?: { readonly frees?: boolean }): Promise<T>;
  /** The same, while no other program on this database does so, too. */
  exclusively<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /** Whether no other program has this database open. */
  alone(): Promise<boolean>;
  /**
   * Takes what was deleted or changed out of the write-ahead log too, and answers whether it did; waits for nobody, the
   * next call takes what this one could not.
   */
  scrub(): Promise<boolean>;
  /** Bytes that the disk has left; undefined where that is not known, in memory and on another machine. */
  free(): number | undefined;
  /** Bytes inside of the database's file that what was deleted left for others. */
  unused(): Promise<number>;
  /** Sets space aside for transactions that free some, where the disk has it. */
  setAside(): Promise<void>;
  /** Rewrites the whole database, so that no file holds what its rows held before; throws when the disk is too small. */
  rewrite(): Promise<void>;
  close(): Promise<void>;
}

/** A statement that stands alone, for text that is not a template: migrations. */
export function plain(text: string): TemplateStringsArray {
  return Object.assign([text], { raw: [text] });
}

/** Whether an error says that the disk is full: SQLite's, by either library, or PostgreSQL's. */
export function isFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  return code === 'SQLITE_FULL' || code === '53100' || errcode === 13;
}

/** Whether an error says that a row refers to what is not there, or that what is to go is referred to. */
export function violatesReference(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  // PostgreSQL's foreign_key_violation, libsql's name, and `node:sqlite`'s number of the same.
  return code === '23503' || code === 'SQLITE_CONSTRAINT_FOREIGNKEY' || errcode === 787;
}

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
