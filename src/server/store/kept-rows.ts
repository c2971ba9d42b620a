import { type ColumnType, onRows, type Sql } from './sql';

/** Milliseconds for which a row is kept at most. */
export const LONGEST = 10 * 60_000;

/** A request that has made or answered something, for a client that sends it again. */
export interface KeptRow {
  /** A hash of its `Idempotency-Key`. */
  readonly key_hash: string;
  /** The push that it made or answered. */
  readonly push_id: number;
  /** A hash of what it asked for and of its key. */
  readonly digest: Uint8Array;
  readonly kept_at: number;
  readonly until: number;
}

// The insertion replaces a row whose time is over, and which no sweep has deleted yet.
const insertion = onRows<Pick<KeptRow, 'key_hash' | 'push_id'>>(
  {
    key_hash: 'TEXT',
    push_id: 'BIGINT',
    digest: 'BYTEA',
    kept_at: 'BIGINT',
    until: 'BIGINT',
  } satisfies Record<keyof KeptRow, ColumnType>,
  `INSERT INTO kept (key_hash, push_id, digest, kept_at, until)
   SELECT * FROM given WHERE true
   ON CONFLICT (key_hash) DO UPDATE SET push_id = excluded.push_id, digest = excluded.digest,
     kept_at = excluded.kept_at, until = excluded.until
   WHERE kept.until <= excluded.kept_at
   RETURNING key_hash, push_id`,
  'key_hash',
);

/** Returns false when a request with that key has been done. */
export async function keep(sql: Sql, row: KeptRow): Promise<boolean> {
  const [kept] = await insertion(sql, { ...row });
  // Of several requests with one key, which PostgreSQL inserts at once, one has the row.
  return kept?.push_id === row.push_id;
}

const search = onRows<KeptRow>(
  { hash: 'TEXT', at: 'BIGINT' },
  'SELECT kept.* FROM given JOIN kept ON key_hash = hash WHERE until > at',
  'key_hash',
);

export async function findKept(sql: Sql, hash: string, now: number): Promise<KeptRow | undefined> {
  return (await search(sql, { hash, at: now }))[0];
}

/** Deletes rows whose time is over, and those that were kept while the clock was ahead. */
export async function deleteKept(sql: Sql, now: number): Promise<void> {
  await sql`DELETE FROM kept WHERE until <= ${now} OR until > ${now + LONGEST + 60_000}`;
}
