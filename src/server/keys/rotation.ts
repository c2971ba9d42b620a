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
  insertKey,
  listKeys,
  listLinkKeys,
  listSealedWith,
  replaceLinkKey,
  replaceSealed,
} from '../store/key-rows';
import { type Database, limitBytes, type Sql, violatesReference } from '../store/sql';
import {
  type FileKey,
  instanceKey,
  newInstanceKey,
  readKeys,
  replaceInstanceKeys,
  selectKeys,
} from './instance-key';
import { addLinkKey, type Links, openLinks, resealLinkKey } from './keyring';
import { reseal } from './vault';

export interface RekeyIo extends DatabaseIo {
  /** Waits for that many milliseconds. */
  readonly sleep: (milliseconds: number) => Promise<void>;
}

export interface Rekeyed {
  readonly resealed: number;
  readonly keyFile: string;
  /** False when the write-ahead log still contains data that the old key opens. */
  readonly scrubbed: boolean;
}

/** Limits of one transaction: pushes, and bytes of their payloads. Services write between two transactions. */
const BATCH = 50;
const BATCH_BYTES = 1024 * 1024;
/** Milliseconds between transactions. */
const PAUSE = 20;
/** Milliseconds to wait for readers of the write-ahead log. */
const SCRUB_FOR = 10_000;

/**
 * Changes the instance key while services run, in this order: the new key is written to the file and to the database;
 * all pushes are resealed with it; the old key is removed from the database, which from then on rejects rows sealed
 * with it; the old key is removed from the file. An interrupted run is continued by the next one.
 * @throws ServiceError when there are no data, or the key file lacks a key in use or cannot be written
 */
export async function rekey(settings: DataLocation, io: RekeyIo): Promise<Rekeyed> {
  const database = await openExisting(settings, io);
  try {
    const { used, links } = await database.exclusively((sql) => addKey(sql, settings));
    const [newest, ...old] = used;
    let resealed = 0;
    for (const from of old) resealed += await retire(database, { from, to: newest, links }, io);
    const scrubbed = await scrub(database, io);
    await database.exclusively((sql) => removeUnused(sql, settings));
    return { resealed, keyFile: keyFileOf(settings), scrubbed };
  } catch (error) {
    throw asServiceError(error);
  } finally {
    await database.close();
  }
}

/** Takes a new key into use, unless an interrupted run has done so; returns the keys in use, newest first. */
async function addKey(
  sql: Sql,
  settings: DataLocation,
): Promise<{ used: readonly [FileKey, ...FileKey[]]; links: Links }> {
  const path = keyFileOf(settings);
  const ids = await listKeys(sql);
  if (ids.length === 0) {
    throw new ServiceError('no instance key yet', { hint: 'start the service first' });
  }
  const available = await readKeys(path);
  const used = selectKeys(ids, available, settings);
  const links = await openLinks(sql, used);
  if (used.length > 1) return { used, links };
  const [current] = used;
  // A first key that is not in use was added by a run that was interrupted before it committed.
  const [first = current] = available;
  const next = first.id === current.id ? addToFile(path, current) : first;
  await insertKey(sql, next.id);
  // So that an old copy of the database and the old key open no link that is made from now on.
  await addLinkKey(sql, next);
  return { used: [next, current], links: await openLinks(sql, [next, current]) };
}

/** Writes a new key before the current one, and drops all others. */
function addToFile(path: string, current: FileKey): FileKey {
  const bytes = newInstanceKey();
  replaceInstanceKeys(path, [bytes, current.bytes]);
  return { ...instanceKey(bytes), bytes };
}

interface Change {
  readonly from: FileKey;
  readonly to: FileKey;
  readonly links: Links;
}

/** Reseals all pushes sealed with `from`, and removes that key from the database; returns their number. */
async function retire(database: Database, change: Change, { sleep }: RekeyIo): Promise<number> {
  for (let resealed = 0; ; ) {
    const began = performance.now();
    const { more, done } = await database.exclusively((sql) => resealBatch(sql, change));
    resealed += done;
    if (!more && (await removeKey(database, change.from.id))) return resealed;
    // Gives services on the same SQLite file a chance to take the lock.
    await sleep(Math.max(PAUSE, performance.now() - began));
  }
}

async function resealBatch(sql: Sql, { from, to, links }: Change) {
  for (const row of await listLinkKeys(sql)) {
    if (row.key_id === from.id) await replaceLinkKey(sql, resealLinkKey(row, from, to));
  }
  const rows = await listSealedWith(sql, from.id, BATCH);
  const some = limitBytes(rows, BATCH_BYTES);
  let done = 0;
  for (const row of some) {
    const ids = { from: from.id, to: to.id };
    const push = { ...row, url_token: links.open(row) };
    // False for a push that expired meanwhile.
    if (await replaceSealed(sql, row.push_id, reseal(row, push, from, to), ids)) done += 1;
  }
  return { more: some.length < rows.length || rows.length === BATCH, done };
}

/** Returns false while a row is sealed with the key: a service may not know the new one yet. */
async function removeKey(database: Database, id: string): Promise<boolean> {
  try {
    await database.exclusively((sql) => deleteKey(sql, id));
    return true;
  } catch (error) {
    if (violatesReference(error)) return false;
    throw error;
  }
}

/** A reader of the database delays it; those of a service are brief. */
async function scrub(database: Database, { sleep }: RekeyIo): Promise<boolean> {
  for (let waited = 0; waited < SCRUB_FOR; waited += PAUSE) {
    if (await database.scrub()) return true;
    await sleep(PAUSE);
  }
  return false;
}

/** Leaves only the keys in use in the file. */
async function removeUnused(sql: Sql, settings: DataLocation): Promise<void> {
  const path = keyFileOf(settings);
  const ids = await listKeys(sql);
  const keys = await readKeys(path);
  const used = keys.filter(({ id }) => ids.includes(id));
  if (used.length === keys.length) return;
  replaceInstanceKeys(
    path,
    used.map(({ bytes }) => bytes),
  );
}
