import { type ColumnType, onRows, plain, type Sql } from './sql';

/** Milliseconds for which an answer is kept at most. */
export const LONGEST = 10 * 60_000;

/** Milliseconds by which the clocks of services may differ. If a view was kept later than that, a clock was set back. */
const ASTRAY = 5 * 60_000;

/**
 * The answer to a request with an `Idempotency-Key`, for a client that sends it again. What was made is a row of `kept`. What was
 * viewed is in the view's entry of the audit log, which each view writes: a row of its own, which is found by its key, would
 * change another page of the database for each.
 */
export interface KeptAnswer {
  /** The push that the request made, answered or viewed. */
  readonly push_id: number;
  /** A hash of what a request to make something asked for; the data keys of what a view opened, sealed with such a hash. */
  readonly seal: Uint8Array;
  readonly kept_at: number;
}

export interface KeptView extends KeptAnswer {
  /** The id of the view's entry in the log. */
  readonly id: number;
  readonly lookup: string;
  /** How many views had been taken, this one among them. */
  readonly views: number;
}

interface KeptRow {
  /** A hash of the `Idempotency-Key`. */
  readonly key_hash: string;
  readonly push_id: number;
  readonly digest: Uint8Array;
  readonly kept_at: number;
  readonly until: number;
}

/** The columns of a view's entry in the audit log that are for its reader. */
export interface KeptViewRow {
  /** A hash of the `Idempotency-Key`, which only has to tell the views of one push apart: 48 bits, short in an index. */
  readonly key_hash: number;
  readonly sealed: Uint8Array;
  readonly views: number;
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
   SELECT * FROM input WHERE true
   ON CONFLICT (key_hash) DO UPDATE SET push_id = excluded.push_id, digest = excluded.digest,
     kept_at = excluded.kept_at, until = excluded.until
   WHERE kept.until <= excluded.kept_at
   RETURNING key_hash, push_id`,
  'key_hash',
);

/** Returns false when a request with that key has been done. */
export async function keepMade(sql: Sql, row: KeptRow): Promise<boolean> {
  const kept = await insertion(sql, { ...row });
  // Of several requests with one key, which PostgreSQL inserts at once, one has the row.
  return kept?.push_id === row.push_id;
}

const madeSearch = onRows<KeptAnswer>(
  { hash: 'TEXT', at: 'BIGINT' },
  `SELECT key_hash, push_id, digest AS seal, kept_at
   FROM input JOIN kept ON key_hash = hash WHERE until > at`,
  'key_hash',
);

export async function findMade(sql: Sql, hash: string, now: number) {
  return madeSearch(sql, { hash, at: now });
}

/** Deletes rows whose time is over, and those that were kept while the clock was ahead. */
export async function deleteMade(sql: Sql, now: number): Promise<void> {
  await sql`DELETE FROM kept WHERE until <= ${now} OR until > ${now + LONGEST + 60_000}`;
}

/** The condition on an entry with a view that is kept for the `hash` of a key `at` a time, both columns of `input`. */
export const KEPT = `key_hash = hash AND until > at AND audit.created_at <= at + ${ASTRAY}`;

const viewSearch = onRows<KeptView>(
  { hash: 'BIGINT', token: 'TEXT', at: 'BIGINT' },
  `SELECT hash, audit.id, lookup, push_id, sealed AS seal, audit.views, audit.created_at AS kept_at
   FROM input JOIN pushes ON lookup = token JOIN audit ON push_id = pushes.id AND ${KEPT}`,
  'hash',
);

/** Finds the view of a push that is kept for a key, or that of another push if the key is used for both at the same time. */
export async function findView(sql: Sql, lookup: string, hash: number, now: number) {
  return viewSearch(sql, { hash, token: lookup, at: now });
}

export interface SealedText {
  readonly id: number;
  readonly payload: Uint8Array | null;
}

const spending = onRows(
  { kept_id: 'BIGINT', push_id: 'BIGINT', payload: 'BYTEA', own: 'BIGINT' },
  `INSERT INTO spent (kept_id, push_id, payload)
   SELECT kept_id, push_id, payload FROM input
   WHERE own = 1 OR EXISTS (SELECT 1 FROM audit WHERE audit.push_id = kept_id AND until IS NOT NULL)`,
);

/**
 * Keeps the text of a push whose secret is destroyed, for those whose views of `keptId` are kept: their keys alone open it.
 * @param own whether the view that destroys it is kept, too; if not, the text is kept only where others are
 */
export async function keepSpent(
  sql: Sql,
  keptId: number,
  { id, payload }: SealedText,
  own: boolean,
) {
  if (payload) await spending(sql, { kept_id: keptId, push_id: id, payload, own: own ? 1 : 0 });
}

const keptText = (column: string) =>
  plain(
    `SELECT ${column}
     FROM audit LEFT JOIN secrets ON secrets.push_id = ?
       LEFT JOIN spent ON spent.kept_id = audit.push_id AND spent.push_id = ?
     WHERE audit.id = ? AND until IS NOT NULL`,
  );

const sizeSearch = keptText('COALESCE(length(secrets.payload), length(spent.payload)) AS bytes');

/** Bytes of a sealed text that a kept view has opened; undefined if either is gone. */
export async function sizeOfKept(sql: Sql, { id: entry }: KeptView, id: number) {
  const [row] = await sql<{ bytes: number | null }>(sizeSearch, id, id, entry);
  return row?.bytes ?? undefined;
}

const textSearch = keptText('COALESCE(secrets.payload, spent.payload) AS payload');

/** The sealed text that a kept view has opened; undefined if either is gone. */
export async function readKept(sql: Sql, { id: entry }: KeptView, id: number) {
  const [row] = await sql<{ payload: Uint8Array | null }>(textSearch, id, id, entry);
  return row?.payload ?? undefined;
}

/** A statement that destroys what is kept of views. The hash, which opens nothing, stays with the entry. */
const forgetting = (which: string) =>
  plain(`UPDATE audit SET sealed = NULL, views = NULL, until = NULL WHERE ${which}`);

const forgettingKey = forgetting(
  `push_id = (SELECT id FROM pushes WHERE lookup = ?) AND key_hash = ? AND until IS NOT NULL
   RETURNING push_id`,
);

/** Destroys the view of a push that is kept for a key. */
export async function forgetView(sql: Sql, lookup: string, hash: number): Promise<void> {
  const rows = await sql<{ push_id: number }>(forgettingKey, lookup, hash);
  for (const { push_id } of rows) await forgetSpent(sql, push_id);
}

const forgettingPush = forgetting(
  'push_id = ? AND (until <= ? OR until IS NOT NULL AND created_at > ?)',
);

/** Destroys the kept views of a push, or only those that are over by a time. */
export async function forgetViews(sql: Sql, pushId: number, by = Number.MAX_SAFE_INTEGER) {
  await sql(forgettingPush, pushId, by, by + ASTRAY);
  await forgetSpent(sql, pushId);
}

/** Destroys the texts of a push that nobody's key opens any more. */
export async function forgetSpent(sql: Sql, keptId: number): Promise<void> {
  await sql`
    DELETE FROM spent WHERE kept_id = ${keptId} AND NOT EXISTS (
      SELECT 1 FROM audit WHERE audit.push_id = spent.kept_id AND until IS NOT NULL)`;
}

const forgettingOver = forgetting(
  `id IN (
     SELECT id FROM audit WHERE until <= ?
     UNION ALL SELECT id FROM audit WHERE until > ? AND created_at > ?
     LIMIT ?)
   RETURNING id`,
);

/**
 * Destroys the first kept views that are over, or that were kept while the clock was ahead; returns how many. Their texts are
 * left to `listSpent`.
 */
export async function forgetOver(sql: Sql, now: number, count: number): Promise<number> {
  const latest = now + ASTRAY;
  return (await sql(forgettingOver, now, latest, latest, count)).length;
}

/** Lists the pushes after an id that have texts which nobody's key opens any more, and how many bytes these have. */
export function listSpent(sql: Sql, after: number, count: number) {
  return sql<{ id: number; bytes: number }>`
    SELECT kept_id AS id, CAST(sum(length(payload)) AS BIGINT) AS bytes FROM spent
    WHERE kept_id > ${after} AND NOT EXISTS (
      SELECT 1 FROM audit WHERE audit.push_id = spent.kept_id AND until IS NOT NULL)
    GROUP BY kept_id ORDER BY kept_id LIMIT ${count}`;
}
