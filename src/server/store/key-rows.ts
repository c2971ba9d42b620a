import type { StoredPush } from './push-rows';
import type { Sql } from './sql';

/** What an instance key seals of a push. */
export interface SealedKeys {
  readonly data_key: Uint8Array;
  readonly note_key: Uint8Array | null;
  readonly verifier: Uint8Array | null;
}

/** The terms of a push and its link token, to which its keys are sealed. */
export type TermsRow = Pick<
  StoredPush,
  | 'lookup'
  | 'sealed_token'
  | 'link_key'
  | 'owner_id'
  | 'expires_at'
  | 'expire_after_views'
  | 'public_key'
>;

export interface SealedKeysRow extends SealedKeys, TermsRow {
  readonly push_id: number;
  /** Size of the payload, which an update of the row rewrites. */
  readonly bytes: number;
}

/** A key for link tokens, sealed with an instance key. */
export interface LinkKeyRow {
  /** Ascending by creation. */
  readonly number: number;
  readonly sealed: Uint8Array;
  readonly key_id: string;
}

/** The ids of the instance keys in use, newest first. */
export async function listKeys(sql: Sql): Promise<string[]> {
  const rows = await sql<{ id: string }>`SELECT id FROM instance_keys ORDER BY number DESC`;
  return rows.map(({ id }) => id);
}

/** Takes a key into use; new secrets are sealed with it from now on. */
export async function insertKey(sql: Sql, id: string): Promise<void> {
  await sql`INSERT INTO instance_keys (id) VALUES (${id})`;
}

/** Takes a key out of use; rejects (`violatesReference`) while a row is sealed with it. */
export async function deleteKey(sql: Sql, id: string): Promise<void> {
  await sql`DELETE FROM instance_keys WHERE id = ${id}`;
}

/** The first `count` rows sealed with that key. */
export function listSealedWith(sql: Sql, id: string, count: number): Promise<SealedKeysRow[]> {
  return sql<SealedKeysRow>`
    SELECT push_id, lookup, sealed_token, link_key, owner_id, expires_at, expire_after_views,
      public_key, data_key, note_key, verifier, COALESCE(length(payload), 0) AS bytes
    FROM secrets JOIN pushes ON pushes.id = secrets.push_id
    WHERE secrets.key_id = ${id}
    ORDER BY push_id LIMIT ${count}`;
}

/** Replaces keys sealed with `from` by keys sealed with `to`; returns false when the row is gone. */
export async function replaceSealed(
  sql: Sql,
  pushId: number,
  keys: SealedKeys,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<boolean> {
  const rows = await sql`
    UPDATE secrets SET data_key = ${keys.data_key}, note_key = ${keys.note_key},
      verifier = ${keys.verifier}, key_id = ${to}
    WHERE push_id = ${pushId} AND key_id = ${from}
    RETURNING push_id`;
  return rows.length > 0;
}

export function listLinkKeys(sql: Sql): Promise<LinkKeyRow[]> {
  return sql<LinkKeyRow>`SELECT number, sealed, key_id FROM link_keys ORDER BY number`;
}

export async function insertLinkKey(sql: Sql, sealed: Uint8Array, keyId: string): Promise<void> {
  await sql`INSERT INTO link_keys (sealed, key_id) VALUES (${sealed}, ${keyId})`;
}

export async function replaceLinkKey(sql: Sql, key: LinkKeyRow): Promise<void> {
  await sql`
    UPDATE link_keys SET sealed = ${key.sealed}, key_id = ${key.key_id}
    WHERE number = ${key.number}`;
}
