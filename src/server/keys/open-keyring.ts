import { randomBytes } from 'node:crypto';
import type { Log } from '../ops/log';
import { type DataLocation, keyFileOf } from '../store/database';
import {
  type ClearRow,
  insertKey,
  isToBeRewritten,
  listClear,
  listKeys,
  replaceClear,
  replaceSealed,
  wasRewritten,
} from '../store/key-rows';
import type { Database, Sql } from '../store/sql';
import {
  type InstanceKey,
  instanceKey,
  isReadByOthers,
  makeInstanceKey,
  readKeys,
  selectKeys,
} from './instance-key';
import { Keyring, type Links, openLinks } from './keyring';
import { bindToTerms } from './vault';

/**
 * Reads the keys in use, creates the first one on new data, and upgrades tokens of earlier versions. Of several services
 * that start at once on new data, one creates the key; the others fail without a copy of it.
 * @throws ServiceError when the key file lacks a key in use, or cannot be read or written
 */
export async function openKeyring(
  database: Database,
  settings: DataLocation & { readonly ephemeral: boolean },
  log: Log,
  clock: () => Date,
): Promise<Keyring> {
  if (settings.ephemeral) {
    const key = instanceKey(randomBytes(32));
    await insertKey(database.sql, key.id);
    return new Keyring([key], await openLinks(database.sql, [key]));
  }
  const path = keyFileOf(settings);
  const { used, links } = await database.exclusively(async (sql) => {
    const used = await usedKeys(sql, settings);
    return { used, links: await openLinks(sql, used) };
  });
  if (!(await sealClearTokens(database, used, links)))
    log.warning(
      'the database could not be rewritten and may contain link tokens: check for a full disk, or another program that uses it',
    );
  if (await isReadByOthers(path))
    log.warning(`other users can read the instance key "${path}": run chmod 600 on it`);
  return new Keyring(used, links, {
    database,
    read: () => readKeys(path),
    now: () => clock().getTime(),
    onMissing: () =>
      log.warning(`"${path}" lacks an instance key in use: copy it from where it was changed`),
  });
}

async function usedKeys(sql: Sql, settings: DataLocation) {
  const path = keyFileOf(settings);
  const ids = await listKeys(sql);
  const available = await readKeys(path);
  if (ids.length > 0) return selectKeys<InstanceKey>(ids, available, settings);
  const first = available[0] ?? (await makeInstanceKey(path));
  await insertKey(sql, first.id);
  return [first] as const;
}

/** Number of pushes that one transaction rewrites, each with its payload. */
const BATCH = 20;

/**
 * Upgrades pushes of versions that stored link tokens in clear text: seals the tokens, and binds the keys of these
 * pushes to their terms. May be interrupted and run again. Returns false when the database file could not be rewritten,
 * so that unused pages may still contain tokens.
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
    await bindRow(sql, row, keys);
    await replaceClear(sql, row.id, links.store(row.lookup));
  }
  return rows.length;
}

async function bindRow(sql: Sql, row: ClearRow, keys: readonly InstanceKey[]): Promise<void> {
  const { id, key_id, data_key, note_key = null, verifier = null } = row;
  const key = keys.find((one) => one.id === key_id);
  if (!key || !data_key) return;
  const push = { ...row, url_token: row.lookup };
  const bound = bindToTerms({ data_key, note_key, verifier }, push, key);
  await replaceSealed(sql, id, bound, { from: key.id, to: key.id });
}
