import { BIGINT, BYTEA, onRows, plain, type RowOf, type Sql, TEXT } from './sql';

/** Maximum milliseconds for which the result of an HTTP request is kept for its repetition. */
export const LONGEST = 10 * 60_000;

/** Milliseconds by which clocks of services may differ. A kept view further in the future shows a clock set back. */
const ASTRAY = 5 * 60_000;

/**
 * The result of an HTTP request with an `Idempotency-Key`, for a client that repeats it. What was made has a row in
 * `kept`. The result of a view is in its audit entry, which each view writes: a separate row, found by its key, would
 * change another page of the database.
 */
export interface KeptAnswer {
  /** The push that the HTTP request made, answered or viewed. */
  readonly push_id: number;
  /** For something made, a hash of the request's content; for a view, the sealed data keys of what it opened. */
  readonly seal: Uint8Array;
  readonly kept_at: number;
}

export interface KeptView extends KeptAnswer {
  /** The id of the view's audit entry. */
  readonly id: number;
  readonly lookup: string;
  /** Number of views taken, including this one. */
  readonly views: number;
}

const columns = {
  /** A hash of the `Idempotency-Key`. */
  key_hash: TEXT,
  push_id: BIGINT,
  digest: BYTEA,
  kept_at: BIGINT,
  until: BIGINT,
};

/** Columns of an audit entry that let the reader of a view repeat the HTTP request. */
export const viewColumns = {
  until: BIGINT,
  views: BIGINT,
  /** 48 bits of a hash of the `Idempotency-Key`, short in an index: they tell the views of one push apart. */
  key_hash: BIGINT,
  sealed: BYTEA,
};
export type KeptViewRow = RowOf<typeof viewColumns>;

// The insertion replaces an expired row that no sweep has deleted yet.
const insertion = onRows<Pick<RowOf<typeof columns>, 'key_hash' | 'push_id'>>(
  columns,
  `INSERT INTO kept (key_hash, push_id, digest, kept_at, until)
   SELECT * FROM input WHERE true
   ON CONFLICT (key_hash) DO UPDATE SET push_id = excluded.push_id, digest = excluded.digest,
     kept_at = excluded.kept_at, until = excluded.until
   WHERE kept.until <= excluded.kept_at
   RETURNING key_hash, push_id`,
  'key_hash',
);

/** Returns false when a request with the same key was done before. */
export async function keepMade(sql: Sql, row: RowOf<typeof columns>): Promise<boolean> {
  const kept = await insertion(sql, row);
  // PostgreSQL may insert several requests with one key in one statement; its row has the `push_id` of one of them.
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

/** Deletes expired rows, and rows that were kept while the clock was ahead. */
export async function deleteMade(sql: Sql, now: number): Promise<void> {
  await sql`DELETE FROM kept WHERE until <= ${now} OR until > ${now + LONGEST + 60_000}`;
}

/**
 * SQL condition for an entry whose view is kept for `hash`, the hash of a key, `at` a time; both are in `input`. Were
 * `created_at` compared alone, SQLite would read the log of the push by its time.
 */
export const KEPT = `key_hash = hash AND until > at AND audit.created_at - ${ASTRAY} <= at`;

const viewSearch = onRows<KeptView>(
  { hash: 'BIGINT', token: 'TEXT', at: 'BIGINT' },
  `SELECT hash, audit.id, lookup, push_id, sealed AS seal, audit.views, audit.created_at AS kept_at
   FROM input JOIN pushes ON lookup = token JOIN audit ON push_id = pushes.id AND ${KEPT}`,
  'hash',
);

/**
 * Finds the view of a push that is kept for a key. Merged calls differ by `hash` alone, so the result may be a view of
 * another push if one key is used for both pushes at once.
 */
export async function findView(sql: Sql, lookup: string, hash: number, now: number) {
  return viewSearch(sql, { hash, token: lookup, at: now });
}

const spending = onRows(
  { kept_id: 'BIGINT', push_id: 'BIGINT', payload: 'BYTEA', own: 'BIGINT' },
  `INSERT INTO spent (kept_id, push_id, payload)
   SELECT kept_id, push_id, payload FROM input
   WHERE own = 1 OR EXISTS (SELECT 1 FROM audit WHERE audit.push_id = kept_id AND until IS NOT NULL)`,
);

/**
 * Keeps the text of a push whose secret is destroyed while views of `keptId` are kept. Only the keys of these views
 * open it.
 * @param own whether the view that destroys the secret is kept; if not, the text is kept only if other views are
 */
export async function keepSpent(
  sql: Sql,
  keptId: number,
  { id, payload }: { readonly id: number; readonly payload: Uint8Array | null },
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

/** Returns bytes; undefined if the text or the view is gone. */
export async function sizeOfKept(sql: Sql, { id: entry }: KeptView, id: number) {
  const [row] = await sql<{ bytes: number | null }>(sizeSearch, id, id, entry);
  return row?.bytes ?? undefined;
}

const textSearch = keptText('COALESCE(secrets.payload, spent.payload) AS payload');

/** Returns undefined if the text or the view is gone. */
export async function readKept(sql: Sql, { id: entry }: KeptView, id: number) {
  const [row] = await sql<{ payload: Uint8Array | null }>(textSearch, id, id, entry);
  return row?.payload ?? undefined;
}

/** Makes a statement that destroys what is kept of views, except the hash, which opens nothing. */
const forgetting = (which: string) =>
  plain(`UPDATE audit SET sealed = NULL, views = NULL, until = NULL WHERE ${which}`);

const forgettingKey = forgetting(
  `push_id = (SELECT id FROM pushes WHERE lookup = ?) AND key_hash = ? AND until IS NOT NULL
   RETURNING push_id`,
);

export async function forgetView(sql: Sql, lookup: string, hash: number): Promise<void> {
  const rows = await sql<{ push_id: number }>(forgettingKey, lookup, hash);
  for (const { push_id } of rows) await forgetSpent(sql, push_id);
}

const forgettingPush = forgetting(
  'push_id = ? AND (until <= ? OR until IS NOT NULL AND created_at > ?)',
);

/** Destroys the kept views of a push; with `by`, only those that are over at that time. */
export async function forgetViews(sql: Sql, pushId: number, by = Number.MAX_SAFE_INTEGER) {
  await sql(forgettingPush, pushId, by, by + ASTRAY);
  await forgetSpent(sql, pushId);
}

/** Destroys the texts of a push of which no view is kept any more. */
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
 * Destroys at most `count` kept views that are over, or were kept while the clock was ahead; returns how many.
 * `listSpent` finds their texts.
 */
export async function forgetOver(sql: Sql, now: number, count: number): Promise<number> {
  const latest = now + ASTRAY;
  return (await sql(forgettingOver, now, latest, latest, count)).length;
}

/** Lists pushes after an id that have texts but no kept views, with the bytes of these texts. */
export function listSpent(sql: Sql, after: number, count: number) {
  return sql<{ id: number; bytes: number }>`
    SELECT kept_id AS id, CAST(sum(length(payload)) AS BIGINT) AS bytes FROM spent
    WHERE kept_id > ${after} AND NOT EXISTS (
      SELECT 1 FROM audit WHERE audit.push_id = spent.kept_id AND until IS NOT NULL)
    GROUP BY kept_id ORDER BY kept_id LIMIT ${count}`;
}
