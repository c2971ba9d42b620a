import {
  type ClearRow,
  isToBeRewritten,
  listClear,
  replaceClear,
  replaceSealed,
  wasRewritten,
} from '../store/key-rows';
import type { Database, Sql } from '../store/sql';
import type { InstanceKey } from './keyring';
import type { Links } from './link-keys';
import { bindToTerms } from './vault';

/** Pushes in one transaction, each of which writes its payload again. */
const BATCH = 20;

/**
 * Seals the tokens that an earlier version left in clear text, and binds the keys of their pushes to their terms. Stopped
 * at any moment, it goes on from there. Answers false when old pages of the file may still hold some, for lack of space.
 */
export async function sealClearTokens(
  database: Database,
  keys: readonly InstanceKey[],
  links: Links,
): Promise<boolean> {
  while ((await database.exclusively((sql) => sealBatch(sql, keys, links))) === BATCH);
  if (!(await isToBeRewritten(database.sql))) return true;
  try {
    await database.rewrite();
  } catch {
    return false;
  }
  await wasRewritten(database.sql);
  return true;
}

async function sealBatch(sql: Sql, keys: readonly InstanceKey[], links: Links): Promise<number> {
  const rows = await listClear(sql, BATCH);
  for (const row of rows) {
    await bind(sql, row, keys);
    await replaceClear(sql, row.id, links.store(row.lookup));
  }
  return rows.length;
}

async function bind(sql: Sql, row: ClearRow, keys: readonly InstanceKey[]): Promise<void> {
  const { id, key_id, data_key, note_key = null, verifier = null } = row;
  const key = keys.find((one) => one.id === key_id);
  if (!key || !data_key) return;
  const push = { ...row, url_token: row.lookup };
  const bound = bindToTerms({ data_key, note_key, verifier }, push, key);
  await replaceSealed(sql, id, bound, { from: key.id, to: key.id });
}
