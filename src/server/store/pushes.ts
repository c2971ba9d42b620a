import type { Kind } from '../../api/contract';
import { dropFiles, keepFilesUntil } from './files';
import type { Sql } from './sql';

/** A row of `pushes`. Flags are 0 and 1, times milliseconds. */
export interface PushRow {
  id: number;
  url_token: string;
  owner_id: number | null;
  kind: Kind;
  name: string;
  expire_after_days: number;
  expire_after_views: number;
  views: number;
  deletable_by_viewer: number;
  retrieval_step: number;
  /** 1 when it needs a passphrase. */
  protected: number;
  /** 1 when somebody expired it, rather than its limits. */
  deleted: number;
  created_at: number;
  updated_at: number;
  expires_at: number;
  expired_at: number | null;
}

export type NewPushRow = Omit<PushRow, 'id' | 'views' | 'deleted' | 'updated_at' | 'expired_at'>;

/** A row of `secrets`: all that is sealed, and all that opens it beside the instance key and the passphrase. */
export interface SecretRow {
  /** Of the instance key that seals the data key, the note's key and the verifier. */
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

export async function insertPush(sql: Sql, push: NewPushRow, secret: SecretRow): Promise<PushRow> {
  const rows = await sql<PushRow>`
    INSERT INTO pushes (url_token, owner_id, kind, name, expire_after_days, expire_after_views, views,
      deletable_by_viewer, retrieval_step, protected, deleted, created_at, updated_at, expires_at)
    VALUES (${push.url_token}, ${push.owner_id}, ${push.kind}, ${push.name},
      ${push.expire_after_days}, ${push.expire_after_views}, 0, ${push.deletable_by_viewer},
      ${push.retrieval_step}, ${push.protected}, 0, ${push.created_at}, ${push.created_at},
      ${push.expires_at})
    RETURNING *`;
  const row = rows[0] as PushRow;
  await sql`
    INSERT INTO secrets (push_id, data_key, payload, note_key, note, salt, cost, verifier, key_id)
    VALUES (${row.id}, ${secret.data_key}, ${secret.payload}, ${secret.note_key}, ${secret.note},
      ${secret.salt}, ${secret.cost}, ${secret.verifier}, ${secret.key_id})`;
  return row;
}

export async function findPush(sql: Sql, urlToken: string): Promise<PushRow | undefined> {
  return (await sql<PushRow>`SELECT * FROM pushes WHERE url_token = ${urlToken}`)[0];
}

export async function findSecret(sql: Sql, id: number): Promise<SecretRow | undefined> {
  return (await sql<SecretRow>`SELECT * FROM secrets WHERE push_id = ${id}`)[0];
}

/** Keeps others from changing the push until the transaction ends, and waits for those who are about to. */
export async function lockPush(sql: Sql, id: number): Promise<void> {
  await sql`UPDATE pushes SET views = views WHERE id = ${id}`;
}

/** The claim: counts one view while there is one left, and answers the push as it is then; else nothing. */
export async function takeView(sql: Sql, id: number, now: number): Promise<PushRow | undefined> {
  const rows = await sql<PushRow>`
    UPDATE pushes SET views = views + 1
    WHERE id = ${id} AND expired_at IS NULL AND expires_at > ${now} AND views < expire_after_views
    RETURNING *`;
  return rows[0];
}

/** The push while it is active; an owner's look takes nothing. */
export async function findActive(sql: Sql, id: number, now: number): Promise<PushRow | undefined> {
  const rows = await sql<PushRow>`
    SELECT * FROM pushes WHERE id = ${id} AND expired_at IS NULL AND expires_at > ${now}`;
  return rows[0];
}

/**
 * Ends an active push at `at` and destroys its secret and its files; nothing when it had ended before.
 * Whoever ends or claims a push changes its row in `pushes` first, so that the row's lock orders them.
 */
export async function endPush(
  sql: Sql,
  id: number,
  at: number,
  deleted: 0 | 1,
): Promise<PushRow | undefined> {
  const ended = await markEnded(sql, id, at, deleted);
  if (ended) await forget(sql, id);
  if (ended) await dropFiles(sql, id);
  return ended;
}

/**
 * Ends a push with its last view: the secret goes at once, the files, which nothing that is kept opens any
 * more, at `filesUntil`. Answers whether the push was active.
 */
export async function endWithView(
  sql: Sql,
  id: number,
  at: number,
  filesUntil: number,
): Promise<boolean> {
  if (!(await markEnded(sql, id, at, 0))) return false;
  await Promise.all([forget(sql, id), keepFilesUntil(sql, id, filesUntil)]);
  return true;
}

async function markEnded(sql: Sql, id: number, at: number, deleted: 0 | 1) {
  const rows = await sql<PushRow>`
    UPDATE pushes SET expired_at = ${at}, updated_at = ${at}, deleted = ${deleted}
    WHERE id = ${id} AND expired_at IS NULL
    RETURNING *`;
  return rows[0];
}

/** Some of the pushes whose time has passed: those with files, 1, or those without, 0; and how many at most. */
export interface Batch {
  readonly files: 0 | 1;
  readonly most: number;
}

/**
 * Ends such pushes; answers how many there were. That they have not ended is said twice: PostgreSQL looks at the outer
 * part again where it had to wait for somebody who ended one meanwhile.
 */
export async function endDue(sql: Sql, now: number, { files, most }: Batch): Promise<number> {
  const rows = await sql<{ id: number }>`
    UPDATE pushes SET expired_at = expires_at, updated_at = expires_at
    WHERE id IN (
      SELECT id FROM pushes WHERE expired_at IS NULL AND expires_at <= ${now}
        AND CASE kind WHEN 'file' THEN 1 ELSE 0 END = ${files}
      ORDER BY expires_at LIMIT ${most})
      AND expired_at IS NULL
    RETURNING id`;
  for (const { id } of rows) {
    await forget(sql, id);
    await dropFiles(sql, id);
  }
  return rows.length;
}

async function forget(sql: Sql, id: number): Promise<void> {
  await Promise.all([
    sql`DELETE FROM secrets WHERE push_id = ${id}`,
    sql`DELETE FROM tries WHERE push_id = ${id}`,
  ]);
}

/** How many are active; `pushes_by_end` is all it reads. */
export async function countActive(sql: Sql, now: number): Promise<number> {
  const rows = await sql<{ active: number }>`
    SELECT count(*) AS active FROM pushes WHERE expired_at IS NULL AND expires_at > ${now}`;
  return Number(rows[0]?.active);
}

export interface Page {
  readonly rows: number;
  /** From 1. */
  readonly number: number;
}

/** Which pushes are on the page is asked first: of those before it nothing but the index is read. */
export function listActive(sql: Sql, ownerId: number, now: number, page: Page) {
  return sql<PushRow & NoteRow>`
    SELECT pushes.*, secrets.key_id, secrets.note_key, secrets.note
    FROM (
      SELECT id FROM pushes
      WHERE owner_id = ${ownerId} AND expired_at IS NULL AND expires_at > ${now}
      ORDER BY created_at DESC, id DESC
      LIMIT ${page.rows} OFFSET ${(page.number - 1) * page.rows}) AS page
    JOIN pushes ON pushes.id = page.id
    LEFT JOIN secrets ON secrets.push_id = page.id
    ORDER BY pushes.created_at DESC, pushes.id DESC`;
}

/**
 * Those that were ended, and those whose time has passed since the last sweep: few, so they are looked for by time
 * (`+` keeps SQLite from looking through all that the owner has).
 */
export function listExpired(sql: Sql, ownerId: number, now: number, page: Page) {
  return sql<PushRow>`
    SELECT pushes.*
    FROM (
      SELECT id, created_at FROM pushes WHERE owner_id = ${ownerId} AND expired_at IS NOT NULL
      UNION ALL
      SELECT id, created_at FROM pushes
      WHERE +owner_id = ${ownerId} AND expired_at IS NULL AND expires_at <= ${now}
      ORDER BY created_at DESC, id DESC
      LIMIT ${page.rows} OFFSET ${(page.number - 1) * page.rows}) AS page
    JOIN pushes ON pushes.id = page.id
    ORDER BY pushes.created_at DESC, pushes.id DESC`;
}
