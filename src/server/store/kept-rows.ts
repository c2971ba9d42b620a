import { type ColumnType, onRows, type Sql } from './sql';

/** Milliseconds for which a row is kept at most. */
export const LONGEST = 10 * 60_000;

/** A request that has been done, for a client that sends it again. */
export interface KeptRow {
  /** A hash of its `Idempotency-Key`. */
  readonly key_hash: string;
  /** What it made or took. */
  readonly push_id: number;
  /** What it asked for, hashed with its key. */
  readonly digest: Uint8Array;
  /** The response, sealed with its key; null if it can be made again from the row of the push. */
  readonly sealed: Uint8Array | null;
  readonly kept_at: number;
  readonly until: number;
}

// A row whose time is over, and which no sweep has deleted yet, is replaced.
const insertion = onRows<Pick<KeptRow, 'key_hash' | 'push_id'>>(
  {
    key_hash: 'TEXT',
    push_id: 'BIGINT',
    digest: 'BYTEA',
    sealed: 'BYTEA',
    kept_at: 'BIGINT',
    until: 'BIGINT',
  } satisfies Record<keyof KeptRow, ColumnType>,
  `INSERT INTO kept (key_hash, push_id, digest, sealed, kept_at, until)
   SELECT * FROM given WHERE true
   ON CONFLICT (key_hash) DO UPDATE SET push_id = excluded.push_id, digest = excluded.digest,
     sealed = excluded.sealed, kept_at = excluded.kept_at, until = excluded.until
   WHERE kept.until <= excluded.kept_at
   RETURNING key_hash, push_id`,
  'key_hash',
);

/** Returns false when a request with that key has been done. */
export async function keep(sql: Sql, row: KeptRow): Promise<boolean> {
  const [kept] = await insertion(sql, { ...row });
  // PostgreSQL inserts those of several requests at once.
  return kept?.push_id === row.push_id;
}

export async function findKept(sql: Sql, hash: string, now: number): Promise<KeptRow | undefined> {
  const rows = await sql<KeptRow>`SELECT * FROM kept WHERE key_hash = ${hash} AND until > ${now}`;
  return rows[0];
}

/** Destroys a response that holds a secret. */
export async function forgetResponse(sql: Sql, hash: string): Promise<void> {
  await sql`DELETE FROM kept WHERE key_hash = ${hash} AND sealed IS NOT NULL`;
}

/** Destroys the responses that hold the secret of a push, or those of them that are over by then. */
export async function forgetKept(sql: Sql, pushId: number, by = Number.MAX_SAFE_INTEGER) {
  await sql`DELETE FROM kept WHERE push_id = ${pushId} AND sealed IS NOT NULL AND until <= ${by}`;
}

/** Deletes what is over by then, and what was kept while the clock was ahead, for longer than anything is. */
export async function deleteKept(sql: Sql, now: number): Promise<void> {
  await sql`DELETE FROM kept WHERE until <= ${now} OR until > ${now + LONGEST + 60_000}`;
}
