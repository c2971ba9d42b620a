import { ServiceError } from '../service-errors';
import {
  asServiceError,
  type DatabaseIo,
  type DataLocation,
  keyFileOf,
  openExisting,
} from '../store/database';
import {
  deleteKey,
  findKey,
  insertKey,
  listLinkKeys,
  listSealedKeys,
  replaceLinkKey,
  replaceSealed,
} from '../store/key-rows';
import type { Sql } from '../store/sql';
import {
  type InstanceKey,
  instanceKey,
  newInstanceKey,
  readKeys,
  replaceInstanceKeys,
  selectKey,
} from './instance-key';
import { addLinkKey, readLinks, resealLinkKey } from './keyring';
import { reseal } from './vault';

/** Rows that are in memory at once. */
const PAGE = 100;

/**
 * Changes the instance key of data that no service uses. The file has the new key and the old one until all pushes are resealed,
 * which is one transaction: after an interruption at any moment, services start, and it can be run again.
 * @throws ServiceError when a service uses the data, there are none, or the key file lacks the key in use or cannot be written
 */
export async function rekey(settings: DataLocation, io: DatabaseIo) {
  const database = await openExisting(settings, io);
  try {
    const resealed = await database.solely((sql) => changeKey(sql, settings));
    // The write-ahead log has pages with keys that the old key opens. A service that has started meanwhile may prevent
    // it, and does it itself.
    await database.scrub();
    await database.exclusively((sql) => dropOthers(sql, settings));
    return { resealed, keyFile: keyFileOf(settings) };
  } catch (error) {
    throw asServiceError(error);
  } finally {
    await database.close();
  }
}

/**
 * Adds a new key to the file and reseals everything with it; the file keeps the old one. Returns the number of pushes.
 * @throws ServiceError when the key file lacks the key in use or cannot be written
 */
export async function changeKey(sql: Sql, settings: DataLocation): Promise<number> {
  const path = keyFileOf(settings);
  const id = await findKey(sql);
  if (id === undefined)
    throw new ServiceError('no instance key yet', { hint: 'start the service first' });
  const from = selectKey(id, await readKeys(path), settings);
  const bytes = newInstanceKey();
  replaceInstanceKeys(path, [bytes, from.bytes]);
  const to = instanceKey(bytes);
  await insertKey(sql, to.id);
  const resealed = await resealAll(sql, from, to);
  for (const row of await listLinkKeys(sql))
    await replaceLinkKey(sql, resealLinkKey(row, from, to));
  // So that an old copy of the database and the old key open no link that is created from now on.
  await addLinkKey(sql, to);
  await deleteKey(sql, from.id);
  return resealed;
}

async function resealAll(sql: Sql, from: InstanceKey, to: InstanceKey): Promise<number> {
  const links = await readLinks(sql, from);
  let [resealed, after] = [0, 0];
  for (;;) {
    const rows = await listSealedKeys(sql, after, PAGE);
    for (const row of rows) {
      const push = { ...row, url_token: links.open(row) };
      await replaceSealed(sql, row.push_id, reseal(row, push, from, to), to.id);
    }
    resealed += rows.length;
    const last = rows.at(-1);
    if (!last) return resealed;
    after = last.push_id;
  }
}

/** Leaves only the key in use in the file. */
async function dropOthers(sql: Sql, settings: DataLocation): Promise<void> {
  const path = keyFileOf(settings);
  const id = await findKey(sql);
  const used = (await readKeys(path)).filter((key) => key.id === id);
  replaceInstanceKeys(
    path,
    used.map(({ bytes }) => bytes),
  );
}
