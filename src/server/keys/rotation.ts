import { ServiceError } from '../service-errors';
import {
  asServiceError,
  type DatabaseIo,
  type DataLocation,
  keyFileOf,
  openExisting,
  using,
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
  changeKeys,
  type FileKey,
  type InstanceKey,
  newInstanceKey,
  noted,
  notesFor,
  otherUses,
  readKeys,
  selectKey,
} from './instance-key';
import { addLinkKey, type Links, readLinks, resealLinkKey } from './keyring';
import { reseal } from './vault';

/** Rows that are in memory at once. */
const PAGE = 100;

/** A key of the file that the data does not use. */
interface OldKey {
  readonly id: string;
  /** The names of other data that the key opens, or may open. */
  readonly used_by: readonly string[];
}

/**
 * Changes the instance key of data that no service uses. The file has the new key and the old one until all pushes are
 * resealed in one transaction: after an interruption at any moment, services can start, and `rekey` can run again.
 * Keys that other data may need stay in the file.
 * @param drop if given, the key is not changed; called with the keys that the data does not use before they are
 *   removed
 * @throws ServiceError when a service uses the data, there is no data, or the key file lacks the key in use or cannot
 *   be written
 */
export async function rekey(
  settings: DataLocation,
  io: DatabaseIo,
  drop?: (keys: readonly OldKey[]) => Promise<void>,
) {
  return using(openExisting(settings, io), async (database) => {
    const resealed = await database.solely(async (sql) => (drop ? 0 : changeKey(sql, settings)));
    // The write-ahead log has pages with keys that the old key opens. A service that has started meanwhile may prevent
    // the scrub, but it scrubs the log itself.
    await database.scrub();
    const dropped = drop && (await database.exclusively((sql) => oldKeys(sql, settings)));
    if (dropped) await drop(dropped);
    const old_keys = await database.exclusively((sql) => dropOthers(sql, settings, dropped));
    return { resealed, key_file: keyFileOf(settings), old_keys };
  }).catch((error) => {
    throw asServiceError(error);
  });
}

/**
 * Adds a new key to the file and reseals everything with it; the old key and those of other data stay in the file.
 * Returns the number of resealed pushes.
 * @throws ServiceError when the key file lacks the key in use or cannot be written
 */
export async function changeKey(sql: Sql, settings: DataLocation): Promise<number> {
  const { key: from, links } = await keyInUse(sql, settings);
  const to = newInstanceKey(notesFor(links.dataId, from));
  const stays = (key: FileKey) => key.id === from.id || otherUses(key, links.dataId).length > 0;
  await changeKeys(keyFileOf(settings), (keys) => [to, ...keys.filter(stays)]);
  await insertKey(sql, to.id);
  const resealed = await resealAll(sql, links, from, to);
  for (const row of await listLinkKeys(sql))
    await replaceLinkKey(sql, resealLinkKey(row, from, to));
  // With the added key, an old copy of the database and the old instance key open no link that is created later.
  await addLinkKey(sql, to);
  await deleteKey(sql, from.id);
  return resealed;
}

/** @throws ServiceError when the data has no key, or the key file lacks it */
export async function keyInUse(sql: Sql, settings: DataLocation) {
  const id = await findKey(sql);
  if (id === undefined)
    throw new ServiceError('no instance key yet', { hint: 'start the service first' });
  const key = selectKey(id, readKeys(keyFileOf(settings)), settings);
  return { key, links: await readLinks(sql, key) };
}

async function resealAll(sql: Sql, links: Links, from: InstanceKey, to: InstanceKey) {
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

/** Removes unused keys from the file: `old`, by default those that no other data may need. Returns those that stay. */
async function dropOthers(sql: Sql, settings: DataLocation, old?: readonly OldKey[]) {
  const { key: used, links } = await keyInUse(sql, settings);
  const isDropped = (key: FileKey) =>
    old ? old.some(({ id }) => id === key.id) : otherUses(key, links.dataId).length === 0;
  await changeKeys(keyFileOf(settings), (keys) =>
    keys.flatMap((key) => {
      if (key.id === used.id) return key;
      return isDropped(key) ? [] : noted(key, links.dataId);
    }),
  );
  return oldKeys(sql, settings);
}

async function oldKeys(sql: Sql, settings: DataLocation): Promise<OldKey[]> {
  const { key: used, links } = await keyInUse(sql, settings);
  return readKeys(keyFileOf(settings))
    .filter(({ id }) => id !== used.id)
    .map((key) => ({ id: key.id, used_by: otherUses(key, links.dataId) }));
}
