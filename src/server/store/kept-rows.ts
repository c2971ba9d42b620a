import { type ColumnType, onRows, type Sql } from './sql';

/** Milliseconds for which a row is kept at most. */
export const LONGEST = 10 * 60_000;

/** A request that has made or answered something, for a client that sends it again. */
export interface KeptRow {
  /** A hash of its `Idempotency-Key`. */
  readonly key_hash: string;
  /** What it made or answered. */
  readonly push_id: number;
  /** What it asked for, hashed with its key. */
  readonly digest: Uint8Array;
  readonly kept_at: number;
  readonly until: number;
}

// A row whose time is over, and which no sweep has deleted yet, is replaced.
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
  // PostgreSQL inserts those of several requests at once.
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

/** Deletes what is over by then, and what was kept while the clock was ahead. */
export async function deleteKept(sql: Sql, now: number): Promise<void> {
  await sql`DELETE FROM kept WHERE until <= ${now} OR until > ${now + LONGEST + 60_000}`;
}
