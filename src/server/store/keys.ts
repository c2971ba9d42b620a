import type { Sql } from './sql';

/** What an instance key seals of a push. */
export interface SealedKeys {
  readonly data_key: Uint8Array;
  readonly note_key: Uint8Array | null;
  readonly verifier: Uint8Array | null;
}

export interface SealedKeysRow extends SealedKeys {
  readonly push_id: number;
  readonly url_token: string;
}

/** The ids of the instance keys in use, newest first. */
export async function listKeys(sql: Sql): Promise<string[]> {
  const rows = await sql<{ id: string }>`SELECT id FROM instance_keys ORDER BY number DESC`;
  return rows.map(({ id }) => id);
}

/** From now on there is that key, and new secrets are for it. */
export async function insertKey(sql: Sql, id: string): Promise<void> {
  await sql`INSERT INTO instance_keys (id) VALUES (${id})`;
}

/** Takes a key out of use; violates a reference while anything is sealed with it. */
export async function deleteKey(sql: Sql, id: string): Promise<void> {
  await sql`DELETE FROM instance_keys WHERE id = ${id}`;
}

/** Some of what is sealed with that key. */
export function listSealedWith(sql: Sql, id: string, count: number): Promise<SealedKeysRow[]> {
  return sql<SealedKeysRow>`
    SELECT push_id, url_token, data_key, note_key, verifier
    FROM secrets JOIN pushes ON pushes.id = secrets.push_id
    WHERE secrets.key_id = ${id}
    ORDER BY push_id LIMIT ${count}`;
}

/** Puts what is sealed with `to` in place of what is sealed with `from`; answers whether it was still there. */
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
