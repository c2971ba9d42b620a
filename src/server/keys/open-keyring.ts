import { randomBytes } from 'node:crypto';
import type { Log } from '../ops/log';
import { type DataLocation, keyFileOf } from '../store/database';
import { findKey, insertKey } from '../store/key-rows';
import type { Database, Sql } from '../store/sql';
import {
  type InstanceKey,
  instanceKey,
  isReadByOthers,
  makeInstanceKey,
  readKeys,
  selectKey,
} from './instance-key';
import { Keyring, openLinks } from './keyring';

/**
 * Reads the key in use, and creates the first one on new data. Of several services that start at once on new data, one
 * creates the key; the others fail without a copy of it.
 * @throws ServiceError when the key file lacks the key in use, or cannot be read or written
 */
export async function openKeyring(
  database: Database,
  settings: DataLocation & { readonly ephemeral: boolean },
  log: Log,
): Promise<Keyring> {
  if (settings.ephemeral) {
    const key = instanceKey(randomBytes(32));
    await insertKey(database.sql, key.id);
    return new Keyring(key, await openLinks(database.sql, key));
  }
  const keyring = await database.exclusively(async (sql) => {
    const key = await openKey(sql, settings);
    return new Keyring(key, await openLinks(sql, key));
  });
  const path = keyFileOf(settings);
  if (await isReadByOthers(path))
    log.warning(`other users can read the instance key "${path}": run chmod 600 on it`);
  return keyring;
}

async function openKey(sql: Sql, settings: DataLocation): Promise<InstanceKey> {
  const path = keyFileOf(settings);
  const id = await findKey(sql);
  const available = await readKeys(path);
  if (id !== undefined) return selectKey(id, available, settings);
  const first = available[0] ?? (await makeInstanceKey(path));
  await insertKey(sql, first.id);
  return first;
}
