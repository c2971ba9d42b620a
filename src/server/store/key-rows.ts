import type { SecretRow, StoredPush, StoredToken } from './push-rows';
import type { Sql } from './sql';

/** What an instance key seals in the row of a push. */
export type SealedKeys = Pick<SecretRow, 'data_key' | 'note_key' | 'verifier'>;

/** Sealed keys, with the terms and the link token of the push, to which they are bound. */
interface SealedKeysRow
  extends SealedKeys,
    StoredToken,
    Pick<StoredPush, 'owner_id' | 'expires_at' | 'expire_after_views' | 'public_key'> {
  readonly push_id: number;
}

/** A key for link tokens, sealed with an instance key. */
export interface LinkKeyRow {
  /** A newer key has a higher number. */
  readonly number: number;
  readonly sealed: Uint8Array;
  readonly key_id: string;
}

/** Returns the id of the instance key in use; undefined on new data. */
export async function findKey(sql: Sql): Promise<string | undefined> {
  return (await sql<{ id: string }>`SELECT id FROM instance_keys`)[0]?.id;
}

/** Allows rows with this id as `key_id`. */
export async function insertKey(sql: Sql, id: string): Promise<void> {
  await sql`INSERT INTO instance_keys (id) VALUES (${id})`;
}

/** Rejects while a row is sealed with the key. After that, the database rejects new rows sealed with it. */
export async function deleteKey(sql: Sql, id: string): Promise<void> {
  await sql`DELETE FROM instance_keys WHERE id = ${id}`;
}

export function listSealedKeys(sql: Sql, after: number, count: number) {
  return sql<SealedKeysRow>`
    SELECT push_id, lookup, sealed_token, link_key, owner_id, expires_at, expire_after_views,
      public_key, data_key, note_key, verifier
    FROM secrets JOIN pushes ON pushes.id = secrets.push_id
    WHERE push_id > ${after} AND pushes.id > ${after}
    ORDER BY push_id LIMIT ${count}`;
}

export async function replaceSealed(sql: Sql, pushId: number, keys: SealedKeys, keyId: string) {
  await sql`
    UPDATE secrets SET data_key = ${keys.data_key}, note_key = ${keys.note_key},
      verifier = ${keys.verifier}, key_id = ${keyId}
    WHERE push_id = ${pushId}`;
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
