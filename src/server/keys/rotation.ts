import { ServiceError } from '../service-error';
import type { ServiceIo, ServiceSettings } from '../service-settings';
import { upTo } from '../store/batch';
import { inWords, openExisting, type Where } from '../store/database';
import {
  deleteKey,
  insertKey,
  listKeys,
  listLinkKeys,
  listSealedWith,
  replaceLinkKey,
  replaceSealed,
} from '../store/key-rows';
import { type Database, type Sql, violatesReference } from '../store/sql';
import { sealClearTokens } from './clear-tokens';
import { newInstanceKey, replaceInstanceKeys } from './instance-key';
import { chosen, type FileKey, keyFileOf, linksOf, readKeys } from './key-file';
import { instanceKey } from './keyring';
import { addLinkKey, type Links, resealLinkKey } from './link-keys';
import { reseal } from './vault';

export type RekeySettings = Where & Pick<ServiceSettings, 'instanceKeyFile'>;

export interface RekeyIo extends Pick<ServiceIo, 'quietly' | 'env'> {
  readonly sleep: (milliseconds: number) => Promise<void>;
}

export interface Rekeyed {
  /** How many pushes were sealed again, by this run. */
  readonly resealed: number;
  readonly keyFile: string;
  /** Whether the write-ahead log holds nothing any more that the old key opens. */
  readonly scrubbed: boolean;
}

/** Pushes, and bytes of payloads, that are written again in one transaction; others write between two of them. */
const BATCH = 50;
const BATCH_BYTES = 1024 * 1024;
/** Milliseconds. */
const PAUSE = 20;
const SCRUB_FOR = 10_000;

/**
 * Changes the instance key while services run: a new one is on the disk and in the database before anything is sealed
 * with it; the old one leaves the database, which then refuses what is sealed with it, with the last that it sealed;
 * and the file after that. Whatever it was stopped at, the next run goes on from there.
 */
export async function rekey(settings: RekeySettings, io: RekeyIo): Promise<Rekeyed> {
  return onData(settings, io, async (database) => {
    const { used, links } = await database.exclusively((sql) => adopt(sql, settings));
    await sealClearTokens(database, used, links);
    const [newest, ...old] = used;
    let resealed = 0;
    for (const from of old) resealed += await retire(database, { from, to: newest, links }, io);
    const scrubbed = await scrub(database, io);
    await database.exclusively((sql) => tidy(sql, settings));
    return { resealed, keyFile: keyFileOf(settings), scrubbed };
  });
}

/** Puts a new key into the file, which the next `rekey` takes; until then nothing is sealed with it. */
export async function prepareRekey(settings: RekeySettings, io: RekeyIo): Promise<string> {
  return onData(settings, io, async (database) => {
    await database.exclusively(async (sql) => {
      const [current, ...old] = await usedKeys(sql, settings);
      if (old.length > 0) {
        throw new ServiceError('the last change of the instance key is not done', {
          hint: 'finish it with pwpush serve rekey',
        });
      }
      await prepare(current, settings);
    });
    return keyFileOf(settings);
  });
}

async function onData<T>(
  settings: RekeySettings,
  io: RekeyIo,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const database = await openExisting(settings, io);
  try {
    return await work(database);
  } catch (error) {
    throw inWords(error);
  } finally {
    await database.close();
  }
}

/** The keys in use, newest first, of which all but the first are to go. */
async function adopt(
  sql: Sql,
  settings: RekeySettings,
): Promise<{ used: readonly [FileKey, ...FileKey[]]; links: Links }> {
  const used = await usedKeys(sql, settings);
  const links = await linksOf(sql, used);
  if (used.length > 1) return { used, links };
  const [current] = used;
  const next = await prepare(current, settings);
  await insertKey(sql, next.id);
  // So that a copy of before and the old key open no link that is made from now on.
  await addLinkKey(sql, next);
  return { used: [next, current], links: await linksOf(sql, [next, current]) };
}

async function usedKeys(sql: Sql, settings: RekeySettings) {
  const ids = await listKeys(sql);
  if (ids.length > 0) return chosen(ids, await readKeys(keyFileOf(settings)), settings);
  throw new ServiceError('there is no instance key yet', { hint: 'start the service first' });
}

/** A key that stands before the one in use: the one that is there, or a new one. What stands behind is forgotten. */
async function prepare(current: FileKey, settings: RekeySettings): Promise<FileKey> {
  const path = keyFileOf(settings);
  const [first] = await readKeys(path);
  if (first && first.id !== current.id) return first;
  const bytes = newInstanceKey();
  replaceInstanceKeys(path, [bytes, current.bytes]);
  return { ...instanceKey(bytes), bytes };
}

interface Change {
  readonly from: FileKey;
  readonly to: FileKey;
  readonly links: Links;
}

/** Seals again what is sealed with `from`, until the database lets that key go; answers how many there were. */
async function retire(database: Database, change: Change, { sleep }: RekeyIo): Promise<number> {
  for (let resealed = 0; ; ) {
    const began = performance.now();
    const { more, done } = await database.exclusively((sql) => resealBatch(sql, change));
    resealed += done;
    if (!more && (await letGo(database, change.from.id))) return resealed;
    // Others on the same SQLite file come by the lock only now.
    await sleep(Math.max(PAUSE, performance.now() - began));
  }
}

async function resealBatch(sql: Sql, { from, to, links }: Change) {
  for (const row of await listLinkKeys(sql)) {
    if (row.key_id === from.id) await replaceLinkKey(sql, resealLinkKey(row, from, to));
  }
  const rows = await listSealedWith(sql, from.id, BATCH);
  const some = upTo(BATCH_BYTES, rows);
  let done = 0;
  for (const row of some) {
    const ids = { from: from.id, to: to.id };
    const push = { ...row, url_token: links.open(row) };
    // One that ended meanwhile is not there any more.
    if (await replaceSealed(sql, row.push_id, reseal(row, push, from, to), ids)) done += 1;
  }
  return { more: some.length < rows.length || rows.length === BATCH, done };
}

/** Not while anything is sealed with it: a service may not have heard of the new one yet. */
async function letGo(database: Database, id: string): Promise<boolean> {
  try {
    await database.exclusively((sql) => deleteKey(sql, id));
    return true;
  } catch (error) {
    if (violatesReference(error)) return false;
    throw error;
  }
}

/** Readers put it off; those of a service are brief. */
async function scrub(database: Database, { sleep }: RekeyIo): Promise<boolean> {
  for (let waited = 0; waited < SCRUB_FOR; waited += PAUSE) {
    if (await database.scrub()) return true;
    await sleep(PAUSE);
  }
  return false;
}

/** Leaves the keys in use in the file, and one that is prepared. */
async function tidy(sql: Sql, settings: RekeySettings): Promise<void> {
  const path = keyFileOf(settings);
  const ids = await listKeys(sql);
  const there = await readKeys(path);
  const newest = there.findIndex(({ id }) => id === ids[0]);
  const kept = there.filter(({ id }, i) => i < newest || ids.includes(id));
  if (kept.length === there.length) return;
  const bytes = kept.map((key) => key.bytes);
  replaceInstanceKeys(path, bytes);
}
