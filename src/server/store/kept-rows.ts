import { type ColumnType, onRows, type Sql } from './sql';

/** Milliseconds for which a row is kept at most. */
export const LONGEST = 10 * 60_000;
/** Milliseconds by which the clocks of services may differ. What was kept later than that has seen one set back. */
const ASTRAY = 5 * 60_000;

/** A request that has been done, for a client that sends it again. */
export interface KeptRow {
  /** A hash of its `Idempotency-Key`. */
  readonly key_hash: string;
  /** What it made or took. */
  readonly push_id: number;
  /** What it asked for, hashed with its key. */
  readonly digest: Uint8Array;
  /** The data keys of what it took, sealed with its key; null if it took no view. */
  readonly sealed: Uint8Array | null;
  /** How many views had been taken with the one that it took. */
  readonly views: number | null;
  readonly kept_at: number;
  readonly until: number;
}

export type KeptHead = Omit<KeptRow, 'sealed' | 'until'>;

// A row whose time is over, and which no sweep has deleted yet, is replaced.
const insertion = onRows<Pick<KeptRow, 'key_hash' | 'push_id'>>(
  {
    key_hash: 'TEXT',
    push_id: 'BIGINT',
    digest: 'BYTEA',
    sealed: 'BYTEA',
    views: 'BIGINT',
    kept_at: 'BIGINT',
    until: 'BIGINT',
  } satisfies Record<keyof KeptRow, ColumnType>,
  `INSERT INTO kept (key_hash, push_id, digest, sealed, views, kept_at, until)
   SELECT * FROM given WHERE true
   ON CONFLICT (key_hash) DO UPDATE SET push_id = excluded.push_id, digest = excluded.digest,
     sealed = excluded.sealed, views = excluded.views, kept_at = excluded.kept_at, until = excluded.until
   WHERE kept.until <= excluded.kept_at
     OR kept.sealed IS NOT NULL AND kept.kept_at > excluded.kept_at + ${ASTRAY}
   RETURNING key_hash, push_id`,
  'key_hash',
);

/** Returns false when a request with that key has been done. */
export async function keep(sql: Sql, row: KeptRow): Promise<boolean> {
  const [kept] = await insertion(sql, { ...row });
  // PostgreSQL inserts those of several requests at once.
  return kept?.push_id === row.push_id;
}

const search = onRows<KeptHead>(
  { hash: 'TEXT', at: 'BIGINT' },
  `SELECT key_hash, push_id, digest, views, kept_at FROM given JOIN kept ON key_hash = hash
   WHERE until > at AND (sealed IS NULL OR kept_at <= at + ${ASTRAY})`,
  'key_hash',
);

export async function findKept(sql: Sql, hash: string, now: number): Promise<KeptHead | undefined> {
  return (await search(sql, { hash, at: now }))[0];
}

/** The sealed text of a push. */
export interface SealedText {
  readonly id: number;
  readonly payload: Uint8Array | null;
}

const spending = onRows(
  { kept_id: 'BIGINT', push_id: 'BIGINT', payload: 'BYTEA', own: 'BIGINT' },
  `INSERT INTO spent (kept_id, push_id, payload)
   SELECT kept_id, push_id, payload FROM given
   WHERE own = 1 OR EXISTS (SELECT 1 FROM kept WHERE kept.push_id = kept_id AND sealed IS NOT NULL)`,
);

/**
 * Keeps the text of a push whose secret is destroyed, for those whose views of `keptId` are kept: their keys alone open it.
 * @param own whether the view that destroys it is kept, too; if not, it is only for others, if there are any
 */
export async function keepSpent(
  sql: Sql,
  keptId: number,
  { id, payload }: SealedText,
  own: boolean,
) {
  if (payload) await spending(sql, { kept_id: keptId, push_id: id, payload, own: own ? 1 : 0 });
}

/** Bytes of a sealed text that a kept view has opened; undefined if either is gone. */
export async function sizeOfKept(sql: Sql, { key_hash }: KeptHead, id: number) {
  const rows = await sql<{ bytes: number | null }>`
    SELECT COALESCE(length(secrets.payload), length(spent.payload)) AS bytes
    FROM kept LEFT JOIN secrets ON secrets.push_id = ${id}
      LEFT JOIN spent ON spent.kept_id = kept.push_id AND spent.push_id = ${id}
    WHERE key_hash = ${key_hash} AND sealed IS NOT NULL`;
  return rows[0]?.bytes ?? undefined;
}

/** That text, and what opens it, while both are there. */
export async function readKept(sql: Sql, { key_hash }: KeptHead, id: number) {
  const rows = await sql<{ sealed: Uint8Array; payload: Uint8Array | null }>`
    SELECT sealed, COALESCE(secrets.payload, spent.payload) AS payload
    FROM kept LEFT JOIN secrets ON secrets.push_id = ${id}
      LEFT JOIN spent ON spent.kept_id = kept.push_id AND spent.push_id = ${id}
    WHERE key_hash = ${key_hash} AND sealed IS NOT NULL`;
  return rows[0];
}

/** Destroys a kept view. */
export async function forgetResponse(sql: Sql, hash: string): Promise<void> {
  const rows = await sql<{ push_id: number }>`
    DELETE FROM kept WHERE key_hash = ${hash} AND sealed IS NOT NULL RETURNING push_id`;
  for (const { push_id } of rows) await forgetSpent(sql, push_id);
}

/** Destroys the kept views of a push, or those of them that are over by then. */
export async function forgetKept(sql: Sql, pushId: number, by = Number.MAX_SAFE_INTEGER) {
  await sql`
    DELETE FROM kept WHERE push_id = ${pushId} AND sealed IS NOT NULL
      AND (until <= ${by} OR kept_at > ${by + ASTRAY})`;
  await forgetSpent(sql, pushId);
}

/** Destroys the texts of a push that nobody's key opens any more. */
export async function forgetSpent(sql: Sql, keptId: number): Promise<void> {
  await sql`
    DELETE FROM spent WHERE kept_id = ${keptId}
      AND NOT EXISTS (SELECT 1 FROM kept WHERE kept.push_id = spent.kept_id AND sealed IS NOT NULL)`;
}

/** Deletes what is over by then, and what was kept while the clock was ahead. The texts of views are left to `listSpent`. */
export async function deleteKept(sql: Sql, now: number): Promise<void> {
  await sql`DELETE FROM kept WHERE until <= ${now} OR until > ${now + LONGEST + 60_000}`;
  const latest = now + ASTRAY;
  await sql`DELETE FROM kept WHERE until > ${latest} AND views IS NOT NULL AND kept_at > ${latest}`;
}

/** Pushes after that one, in order, with texts that nobody's key opens any more, and how many bytes these have. */
export function listSpent(sql: Sql, after: number, count: number) {
  return sql<{ id: number; bytes: number }>`
    SELECT kept_id AS id, CAST(sum(length(payload)) AS BIGINT) AS bytes FROM spent
    WHERE kept_id > ${after}
      AND NOT EXISTS (SELECT 1 FROM kept WHERE kept.push_id = spent.kept_id AND sealed IS NOT NULL)
    GROUP BY kept_id ORDER BY kept_id LIMIT ${count}`;
}
