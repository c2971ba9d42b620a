import { randomBytes } from 'node:crypto';
import type { Log } from '../ops/log';
import { type DataLocation, keyFileOf } from '../store/database';
import { insertKey, listKeys } from '../store/key-rows';
import type { Database, Sql } from '../store/sql';
import {
  type InstanceKey,
  instanceKey,
  isReadByOthers,
  makeInstanceKey,
  readKeys,
  selectKeys,
} from './instance-key';
import { Keyring, openLinks } from './keyring';

/**
 * Reads the keys in use, and creates the first one on new data. Of several services that start at once on new data, one creates the key; the others fail without a copy of it.
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
