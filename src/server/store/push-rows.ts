import type { SealedWith } from '../../age/sealed-with';
import type { Kind } from '../../contract/api';
import { keyChanged } from '../service-errors';
import { endFiles } from './file-rows';
import { forgetSpent, forgetViews, KEPT } from './kept-rows';
import {
  BIGINT,
  BYTEA,
  FLAG,
  first,
  insertionOf,
  mapped,
  nullable,
  onRows,
  type RowOf,
  type Sql,
  type SqlColumn,
  TEXT,
  violatesReference,
} from './sql';

/** The columns of `pushes` except the id. Times are milliseconds. */
const columns = {
  /** A keyed hash of the link token. */
  lookup: TEXT,
  /** The link token, sealed because it opens the push. */
  sealed_token: BYTEA,
  /** The number of the link key that seals `sealed_token`. */
  link_key: BIGINT,
  owner_id: nullable(BIGINT),
  /** That of the token that created the row; null without one. */
  maker: nullable(TEXT),
  kind: TEXT as SqlColumn<Kind | 'request' | 'answer'>,
  name: TEXT,
  expire_after_days: BIGINT,
  expire_after_views: BIGINT,
  views: BIGINT,
  deletable_by_viewer: FLAG,
  retrieval_step: FLAG,
  /** Whether the push has a passphrase. */
  protected: FLAG,
  /** What opens a secret that the client encrypted; null if the client did not encrypt it. */
  sealed_with: TEXT as SqlColumn<SealedWith | null>,
  /** What proves that a viewer has the key, sealed with the link token; null when no proof is needed. */
  key_proof: nullable(TEXT),
  /** The salt with which words are stretched for `key_proof`. */
  key_salt: nullable(TEXT),
  /** Whether the push was expired by its owner or a viewer, not by a limit. */
  deleted: FLAG,
  created_at: BIGINT,
  updated_at: BIGINT,
  expires_at: BIGINT,
  expired_at: nullable(BIGINT),
  /** The id of the push that answers a request. */
  answer_id: nullable(BIGINT),
  /** The age recipient that the answer to a request is to be encrypted to. */
  public_key: nullable(TEXT),
  /** Whether the page of a request shows the name of its owner. */
  include_requestor: FLAG,
  /** Whether the answer to a request may have files. */
  response_file_attachments: FLAG,
};

type Columns = RowOf<typeof columns>;

/** Values of columns that a new row leaves out. */
const defaults = {
  name: '',
  views: 0,
  deletable_by_viewer: 0,
  retrieval_step: 0,
  protected: 0,
  sealed_with: null,
  key_proof: null,
  key_salt: null,
  deleted: 0,
  expired_at: null,
  answer_id: null,
  public_key: null,
  include_requestor: 0,
  response_file_attachments: 0,
} satisfies Partial<Columns>;

type Default = keyof typeof defaults;
type Fields = { readonly [C in keyof Columns]: Columns[C] extends 0 | 1 ? boolean : Columns[C] };

export type NewPushRow = Omit<Fields, Default> & Partial<Pick<Fields, Default>>;

export type StoredPush = { id: number } & Columns;

export type StoredToken = Pick<StoredPush, 'lookup' | 'sealed_token' | 'link_key'>;

/** A row with its link token in clear text. */
export type PushRow = StoredPush & { url_token: string };

/** Columns of `secrets`: sealed data, and what opens it together with the instance key and the passphrase. */
const secretColumns = {
  data_key: BYTEA,
  payload: nullable(BYTEA),
  note_key: nullable(BYTEA),
  note: nullable(BYTEA),
  salt: nullable(BYTEA),
  cost: nullable(TEXT),
  verifier: nullable(BYTEA),
  /** The id of the instance key that seals the data key, the note's key and the verifier. */
  key_id: TEXT,
};

export type SecretRow = RowOf<typeof secretColumns>;
export type NoteRow = Pick<SecretRow, 'key_id' | 'note_key' | 'note'>;

const names = ['id', ...Object.keys(columns)].join(', ');
const secretNames = Object.keys(secretColumns).join(', ');

const insertion = insertionOf<{ id: number }>('pushes', columns, 'lookup');
const secretInsertion = insertionOf('secrets', { push_id: BIGINT, ...secretColumns });

export async function insertPush(sql: Sql, push: NewPushRow, secret: SecretRow) {
  const fields: Partial<Fields> = push;
  const row = mapped(columns, (_, column) => {
    const value = fields[column] ?? (defaults as Partial<Columns>)[column] ?? null;
    return typeof value === 'boolean' ? Number(value) : value;
  });
  const { id } = (await insertion(sql, row)) as { id: number };
  await secretInsertion(sql, { push_id: id, ...secret }).catch((error) => {
    throw violatesReference(error) ? keyChanged() : error;
  });
  return { ...row, id } as StoredPush;
}

const search = onRows<StoredPush>(
  { token: TEXT },
  `SELECT ${names} FROM input JOIN pushes ON lookup = token`,
  'lookup',
);

export function findPush(sql: Sql, lookup: string): Promise<StoredPush | undefined> {
  return search(sql, { token: lookup });
}

const searchWithView = onRows<StoredPush & { readonly is_kept: boolean | number }>(
  { hash: BIGINT, token: TEXT, at: BIGINT },
  `SELECT hash, ${names}, pushes.views > 0 AND EXISTS (
     SELECT 1 FROM audit WHERE push_id = pushes.id AND ${KEPT}) AS is_kept
   FROM input JOIN pushes ON lookup = token`,
  'hash',
);

/**
 * Finds a push and whether a view of it is kept for a key, in one statement. It may be another push: see `findView`.
 */
export function findWithView(sql: Sql, lookup: string, hash: number, now: number) {
  return searchWithView(sql, { hash, token: lookup, at: now });
}

const secretSearch = onRows<SecretRow>(
  { push: BIGINT },
  `SELECT push_id, ${secretNames} FROM input JOIN secrets ON push_id = push`,
  'push_id',
);

export function findSecret(sql: Sql, id: number): Promise<SecretRow | undefined> {
  return secretSearch(sql, { push: id });
}

const secretRemoval = onRows<SecretRow>(
  { push: BIGINT },
  `DELETE FROM secrets WHERE push_id IN (SELECT push FROM input) RETURNING push_id, ${secretNames}`,
  'push_id',
);

/** Destroys the secret of a push, and returns it for the last view. */
export async function takeSecret(sql: Sql, push: StoredPush): Promise<SecretRow | undefined> {
  const [secret] = await Promise.all([
    secretRemoval(sql, { push: push.id }),
    (push.protected || push.key_proof !== null) && forgetTries(sql, push.id),
  ]);
  return secret;
}

const locking = onRows(
  { push: BIGINT },
  'UPDATE pushes SET views = views FROM input WHERE id = push RETURNING id',
  'id',
);

/** Locks the row of a push until the transaction ends. */
export async function lockPush(sql: Sql, id: number): Promise<void> {
  await locking(sql, { push: id });
}

type Changeable = Pick<StoredPush, 'id' | 'views' | 'expired_at' | 'updated_at' | 'answer_id'>;

/**
 * Makes a function that updates the row of an active push, which locks it, so that nothing else ends the push before
 * the transaction ends. It returns the push as it is now, or undefined if no row was updated.
 */
function claiming(changes: string, condition: string) {
  // COALESCE, because PostgreSQL without statistics would look through the index of all active pushes.
  const statement = onRows<Changeable>(
    { push: BIGINT, now: BIGINT },
    `UPDATE pushes SET ${changes} FROM input
     WHERE id = push AND COALESCE(expired_at, 0) = 0 AND expires_at > now AND ${condition}
     RETURNING id, views, expired_at, updated_at, answer_id`,
    'id',
  );
  return async <P extends StoredPush>(sql: Sql, push: P, now: number) => {
    const changed = await statement(sql, { push: push.id, now });
    return changed && { ...push, ...changed };
  };
}

/** SQL condition: a view is the last, which ends a push in the same statement. A request is not ended by its view. */
const IS_LAST = "kind <> 'request' AND views + 1 >= expire_after_views";

/** Counts a view; returns undefined if none is left, or the push has ended. */
export const takeView = claiming(
  `views = views + 1, expired_at = CASE WHEN ${IS_LAST} THEN now END,
   updated_at = CASE WHEN ${IS_LAST} THEN now ELSE updated_at END`,
  'views < expire_after_views',
);

/** Locks the row of a push; returns undefined if it has ended. */
export const lockActive = claiming('views = views', 'true');

/** Attaches an answer to a request, whose view the caller has taken before. */
export async function keepAnswer(sql: Sql, id: number, answerId: number, now: number) {
  const rows = await sql<StoredPush>`
    UPDATE pushes SET answer_id = ${answerId}, updated_at = ${now} WHERE id = ${id} RETURNING *`;
  return rows[0] as StoredPush;
}

export function findActive(sql: Sql, { id }: Pick<StoredPush, 'id'>, now: number) {
  return first(sql<StoredPush>`
    SELECT * FROM pushes WHERE id = ${id} AND expired_at IS NULL AND expires_at > ${now}`);
}

/**
 * Expires an active push: destroys its secret and ends its files, whose chunks `dropPiece` deletes later. Returns
 * undefined when it was expired already. All transactions that expire or view a push update its row in `pushes` first,
 * so that the lock of the row orders them.
 */
export async function endPush(sql: Sql, id: number, time: number, deleted: 0 | 1) {
  const rows = await sql<StoredPush>`
    UPDATE pushes SET expired_at = ${time}, updated_at = ${time}, deleted = ${deleted}
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

export function findById(sql: Sql, id: number): Promise<StoredPush | undefined> {
  return first(sql<StoredPush>`SELECT * FROM pushes WHERE id = ${id}`);
}

export type DuePush = Pick<StoredPush, 'id' | 'kind' | 'expires_at'> & { readonly bytes: number };

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

export type Counts = Record<'pushes' | 'requests', number>;

/** Counts requests with and without an answer. The index `pushes_by_end` has all columns of the query. */
export async function countActive(sql: Sql, now: number): Promise<Counts> {
  const [row] = await sql<Counts>`
    SELECT count(*) FILTER (WHERE kind NOT IN ('request', 'answer')) AS pushes,
      count(*) FILTER (WHERE kind = 'request') AS requests
    FROM pushes WHERE expired_at IS NULL AND expires_at > ${now}`;
  return { pushes: Number(row?.pushes), requests: Number(row?.requests) };
}
