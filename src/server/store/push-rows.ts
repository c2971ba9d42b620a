import type { SealedWith } from '../../age/sealed-with';
import type { Kind } from '../../contract/api';
import { keyChanged } from '../service-errors';
import { endFiles } from './file-rows';
import { forgetSpent, forgetViews, KEPT } from './kept-rows';
import { type ColumnType, insertionOf, mapped, onRows, type Sql, violatesReference } from './sql';

interface Column<T> {
  readonly type: ColumnType;
  readonly unsaid?: T;
}

/** A column that each new row says, and one that has this value unless a new row says another. */
const said = <T>(type: ColumnType): Column<T> => ({ type });
const unless = <T>(type: ColumnType, unsaid: T): Required<Column<T>> => ({ type, unsaid });

const number = said<number>('BIGINT');
const flag = unless<boolean>('BIGINT', false);

/** The columns of `pushes` but for the id. Times are milliseconds. */
const columns = {
  /** A keyed hash of the link token. */
  lookup: said<string>('TEXT'),
  /** The link token, which opens the push. */
  sealed_token: said<Uint8Array>('BYTEA'),
  /** The number of the link key that seals it. */
  link_key: number,
  owner_id: said<number | null>('BIGINT'),
  kind: said<Kind | 'request' | 'answer'>('TEXT'),
  name: unless<string>('TEXT', ''),
  expire_after_days: number,
  expire_after_views: number,
  views: unless<number>('BIGINT', 0),
  deletable_by_viewer: flag,
  retrieval_step: flag,
  /** Whether it has a passphrase. */
  protected: flag,
  /** What opens a secret that was encrypted before it was sent; null for one that was not. */
  sealed_with: unless<SealedWith | null>('TEXT', null),
  /** What shows that a viewer has the key, sealed with the link token; null where none is needed. */
  key_proof: unless<string | null>('TEXT', null),
  /** The salt with which words are stretched for `key_proof`. */
  key_salt: unless<string | null>('TEXT', null),
  /** Whether it was expired by its owner or a viewer, not by a limit. */
  deleted: flag,
  created_at: number,
  updated_at: number,
  expires_at: number,
  expired_at: unless<number | null>('BIGINT', null),
  /** The push with the answer to a request. */
  answer_id: unless<number | null>('BIGINT', null),
  /** The age recipient that the answer to a request is to be encrypted to. */
  public_key: unless<string | null>('TEXT', null),
  /** Whether the page of a request has the name of its owner. */
  include_requestor: flag,
  /** Whether the answer to a request may have files. */
  response_file_attachments: flag,
};

type Columns = typeof columns;
type Unsaid = {
  [C in keyof Columns]: Columns[C] extends Required<Columns[C]> ? C : never;
}[keyof Columns];
type Kept<C extends keyof Columns> = Columns[C] extends Column<infer T> ? T : never;

/** A new row, whose flags are off unless it has them. */
export type NewPushRow = { readonly [C in Exclude<keyof Columns, Unsaid>]: Kept<C> } & {
  readonly [C in Unsaid]?: Kept<C>;
};

/** A row of `pushes`; flags are 0 and 1. */
export type StoredPush = { id: number } & {
  [C in keyof Columns]: Kept<C> extends boolean ? 0 | 1 : Kept<C>;
};

export type StoredToken = Pick<StoredPush, 'lookup' | 'sealed_token' | 'link_key'>;

/** A row with its link token in clear text. */
export type PushRow = StoredPush & { url_token: string };

/** A row of `secrets`: everything sealed, and what opens it besides the instance key and the passphrase. */
export interface SecretRow {
  /** The id of the instance key that seals the data key, the note's key and the verifier. */
  key_id: string;
  data_key: Uint8Array;
  payload: Uint8Array | null;
  note_key: Uint8Array | null;
  note: Uint8Array | null;
  salt: Uint8Array | null;
  cost: string | null;
  verifier: Uint8Array | null;
}

export type NoteRow = Pick<SecretRow, 'key_id' | 'note_key' | 'note'>;

const names = ['id', ...Object.keys(columns)].join(', ');
const secretColumns = {
  ...{ data_key: 'BYTEA', payload: 'BYTEA', note_key: 'BYTEA', note: 'BYTEA', salt: 'BYTEA' },
  ...{ cost: 'TEXT', verifier: 'BYTEA', key_id: 'TEXT' },
} as const satisfies Record<keyof SecretRow, ColumnType>;
const secretNames = Object.keys(secretColumns).join(', ');

const insertion = insertionOf<{ id: number }>(
  'pushes',
  mapped(columns, ({ type }) => type),
  'lookup',
);
const secretInsertion = insertionOf('secrets', { push_id: 'BIGINT', ...secretColumns });

export async function insertPush(sql: Sql, push: NewPushRow, secret: SecretRow) {
  const row = mapped(columns, ({ unsaid }, column) => {
    const value = push[column] ?? unsaid ?? null;
    return typeof value === 'boolean' ? Number(value) : value;
  });
  const [inserted] = await insertion(sql, row);
  const { id } = inserted as { id: number };
  await secretInsertion(sql, { push_id: id, ...secret }).catch((error) => {
    throw violatesReference(error) ? keyChanged() : error;
  });
  return { ...row, id } as StoredPush;
}

const search = onRows<StoredPush>(
  { token: 'TEXT' },
  `SELECT ${names} FROM given JOIN pushes ON lookup = token`,
  'lookup',
);

export async function findPush(sql: Sql, lookup: string): Promise<StoredPush | undefined> {
  return (await search(sql, { token: lookup }))[0];
}

const searchWithView = onRows<StoredPush & { readonly is_kept: boolean | number }>(
  { hash: 'BIGINT', token: 'TEXT', at: 'BIGINT' },
  `SELECT hash, ${names}, pushes.views > 0 AND EXISTS (
     SELECT 1 FROM audit WHERE push_id = pushes.id AND ${KEPT}) AS is_kept
   FROM given JOIN pushes ON lookup = token`,
  'hash',
);

/** Finds a push, and whether a view of it is kept for a key, both at one moment; like `findView`, perhaps of another push. */
export async function findWithView(sql: Sql, lookup: string, hash: number, now: number) {
  return (await searchWithView(sql, { hash, token: lookup, at: now }))[0];
}

const secretSearch = onRows<SecretRow>(
  { push: 'BIGINT' },
  `SELECT push_id, ${secretNames} FROM given JOIN secrets ON push_id = push`,
  'push_id',
);

export async function findSecret(sql: Sql, id: number): Promise<SecretRow | undefined> {
  return (await secretSearch(sql, { push: id }))[0];
}

const secretRemoval = onRows<SecretRow>(
  { push: 'BIGINT' },
  `DELETE FROM secrets WHERE push_id IN (SELECT push FROM given) RETURNING push_id, ${secretNames}`,
  'push_id',
);

/** Destroys the secret of a push with its last view, for which it is returned. */
export async function takeSecret(sql: Sql, push: StoredPush): Promise<SecretRow | undefined> {
  const [[secret]] = await Promise.all([
    secretRemoval(sql, { push: push.id }),
    (push.protected || push.key_proof !== null) && forgetTries(sql, push.id),
  ]);
  return secret;
}

/** Locks the row of a push until the transaction ends. */
export async function lockPush(sql: Sql, id: number): Promise<void> {
  await sql`UPDATE pushes SET views = views WHERE id = ${id}`;
}

/** Whether a view is the last, which ends a push in the same statement. A request is ended by its owner. */
const isLast = "kind <> 'request' AND views + 1 >= expire_after_views";

/** A condition on a push in `given`. PostgreSQL without statistics would look for `IS NULL` in the index of all active pushes. */
const IS_ACTIVE = 'id = push AND COALESCE(expired_at, 0) = 0 AND expires_at > at';

const viewing = onRows<Pick<StoredPush, 'id' | 'views' | 'expired_at' | 'updated_at'>>(
  { push: 'BIGINT', at: 'BIGINT' },
  `UPDATE pushes SET views = views + 1,
     expired_at = CASE WHEN ${isLast} THEN at END,
     updated_at = CASE WHEN ${isLast} THEN at ELSE updated_at END
   FROM given
   WHERE ${IS_ACTIVE} AND views < expire_after_views
   RETURNING id, views, expired_at, updated_at`,
  'id',
);

/** Counts a view if one is left, and returns the updated push, expired by the last; undefined if none is left. */
export async function takeView<P extends StoredPush>(sql: Sql, push: P, now: number) {
  const [changed] = await viewing(sql, { push: push.id, at: now });
  return changed && { ...push, ...changed };
}

/** Attaches the answer to a request, of which a view was taken before. */
export async function keepAnswer(sql: Sql, id: number, answerId: number, at: number) {
  const rows = await sql<StoredPush>`
    UPDATE pushes SET answer_id = ${answerId}, updated_at = ${at} WHERE id = ${id} RETURNING *`;
  return rows[0] as StoredPush;
}

export async function findActive(sql: Sql, { id }: Pick<StoredPush, 'id'>, now: number) {
  const rows = await sql<StoredPush>`
    SELECT * FROM pushes WHERE id = ${id} AND expired_at IS NULL AND expires_at > ${now}`;
  return rows[0];
}

type Changeable = Pick<StoredPush, 'id' | 'views' | 'expired_at' | 'updated_at' | 'answer_id'>;

const locking = onRows<Changeable>(
  { push: 'BIGINT', at: 'BIGINT' },
  `UPDATE pushes SET views = views FROM given WHERE ${IS_ACTIVE}
   RETURNING id, views, expired_at, updated_at, answer_id`,
  'id',
);

/**
 * Locks the row of an active push until the transaction ends: nothing ends it meanwhile. Returns the push with what has
 * changed since it was read; undefined if it has ended.
 */
export async function lockActive<P extends StoredPush>(sql: Sql, push: P, now: number) {
  const [changed] = await locking(sql, { push: push.id, at: now });
  return changed && { ...push, ...changed };
}

/**
 * Expires an active push: destroys its secret and ends its files, whose chunks are deleted later (`dropPiece`). Returns
 * undefined when it was expired already. All that expire or view a push update its row in `pushes` first, so that the
 * row's lock orders them.
 */
export async function endPush(sql: Sql, id: number, at: number, deleted: 0 | 1) {
  const rows = await sql<StoredPush>`
    UPDATE pushes SET expired_at = ${at}, updated_at = ${at}, deleted = ${deleted}
    WHERE id = ${id} AND expired_at IS NULL
    RETURNING *`;
  const [ended] = rows;
  if (ended)
    await Promise.all([
      forget(sql, id),
      ended.views > 0 && forgetViews(sql, id),
      endFiles(sql, id),
    ]);
  return ended;
}

/** The row of a push that may have ended. */
export async function findById(sql: Sql, id: number): Promise<StoredPush | undefined> {
  return (await sql<StoredPush>`SELECT * FROM pushes WHERE id = ${id}`)[0];
}

export type DuePush = Pick<StoredPush, 'id' | 'kind' | 'expires_at'> & { readonly bytes: number };

/** The next due pushes after the given one, ordered by time. */
export function listDue(
  sql: Sql,
  now: number,
  after: Pick<DuePush, 'id' | 'expires_at'>,
  count: number,
) {
  return sql<DuePush>`
    SELECT pushes.id, pushes.expires_at, pushes.kind, COALESCE(length(secrets.payload), 0) AS bytes
    FROM pushes LEFT JOIN secrets ON secrets.push_id = pushes.id
    WHERE pushes.expired_at IS NULL AND pushes.expires_at <= ${now}
      AND (pushes.expires_at, pushes.id) > (${after.expires_at}, ${after.id})
    ORDER BY pushes.expires_at, pushes.id LIMIT ${count}`;
}

async function forget(sql: Sql, id: number): Promise<void> {
  await Promise.all([sql`DELETE FROM secrets WHERE push_id = ${id}`, forgetTries(sql, id)]);
}

function forgetTries(sql: Sql, id: number): Promise<unknown> {
  return sql`DELETE FROM tries WHERE push_id = ${id}`;
}

/** Ids of pushes that expired by then and have no files left. */
export async function listEndedBefore(sql: Sql, before: number, count: number): Promise<number[]> {
  const rows = await sql<{ id: number }>`
    SELECT id FROM pushes
    WHERE expired_at <= ${before}
      AND NOT EXISTS (SELECT 1 FROM uploads WHERE push_id = pushes.id)
    ORDER BY expired_at LIMIT ${count}`;
  return rows.map(({ id }) => id);
}

/** Number of log entries deleted in one transaction. */
const ENTRIES = 1000;

/** Deletes an expired push with its log, or the first entries of a long log; returns the number of entries deleted. */
export async function dropPush(sql: Sql, id: number): Promise<number> {
  const entries = await sql`
    DELETE FROM audit WHERE id IN (SELECT id FROM audit WHERE push_id = ${id} LIMIT ${ENTRIES})
    RETURNING id`;
  if (entries.length < ENTRIES) {
    await Promise.all([forget(sql, id), forgetSpent(sql, id)]);
    await sql`DELETE FROM pushes WHERE id = ${id}`;
  }
  return entries.length;
}

/** Numbers of active pushes, and of open and ready requests. */
export interface ActiveCounts {
  readonly pushes: number;
  readonly requests: number;
}

/** Counts by the index `pushes_by_end` alone. */
export async function countActive(sql: Sql, now: number): Promise<ActiveCounts> {
  const [row] = await sql<ActiveCounts>`
    SELECT count(*) FILTER (WHERE kind NOT IN ('request', 'answer')) AS pushes,
      count(*) FILTER (WHERE kind = 'request') AS requests
    FROM pushes WHERE expired_at IS NULL AND expires_at > ${now}`;
  return { pushes: Number(row?.pushes), requests: Number(row?.requests) };
}
