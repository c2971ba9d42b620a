import { randomInt } from 'node:crypto';
import {
  constants,
  copyFileSync,
  createReadStream,
  createWriteStream,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { platform } from 'node:os';
import { dirname, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { TokenSummary } from '../contract/api';
import { asRoot } from '../platform/files/acting';
import { draftOf, dropDrafts, makeFile, nameFile } from '../platform/files/atomic-file';
import { syncFile, syncFolder } from '../platform/files/sync';
import { keyInUse } from './keys/rotation';
import { copyError, ofPostgres } from './ops/database-copy';
import { deleteToken, endToken, listHeld } from './owners/owner-rows';
import { invalidInput, ServiceError } from './service-errors';
import type { ServiceIo } from './service-settings';
import { type DatabaseIo, type DataLocation, migrate, pathIn, using } from './store/database';
import { findKey } from './store/key-rows';
import { markError, markOf } from './store/moved';
import { type Database, isDamaged, type Sql } from './store/sql';
import { lockSqlite, openMemory, openSqlite } from './store/sqlite';
import { checkpoint, pragma, type Quietly, sqliteDriver } from './store/sqlite-driver';
import { deleteTrust, listTrusts } from './trust/trust-rows';

/**
 * Puts a copy that `backup` made in the place of the database, and keeps the old one beside it. A crash leaves one of the
 * two. Tokens that the old one shows to be revoked since stay revoked. Returns the paths of the database and of the old
 * one, if there was one, and what became of the tokens.
 * @throws ServiceError when a program uses the database, or a service could not use the copy; then the data is as before
 */
export async function restore(
  location: DataLocation,
  file: string,
  { now, quietly = (load) => load() }: DatabaseIo & Pick<ServiceIo, 'now'>,
) {
  if (location.database !== undefined) throw ofPostgres('restore it with pg_restore');
  const target = resolve(pathIn(location.data));
  asRoot(() => checkSource(file, target));
  const draft = draftOf(target);
  let lock: Awaited<ReturnType<typeof lockSqlite>>;
  try {
    mkdirSync(location.data, { recursive: true, mode: 0o700 });
    if (existsSync(target)) lock = await lockSqlite(target, quietly);
    const mark = lock && (await markOf(lock));
    if (mark) throw markError(mark);
    dropDrafts(target);
    const old = statSync(target, { throwIfNoEntry: false });
    makeFile(draft, () => {}, old);
    const source = asRoot(() => openSync(file, 'r'));
    await pipeline(
      createReadStream(file, { fd: source }),
      createWriteStream(draft, { flags: 'r+' }),
    );
    const isBackup = await isUsable(draft, location, quietly).catch((error) => {
      if (isDamaged(error)) return false;
      throw error;
    });
    if (!isBackup) throw new ServiceError(`"${file}" is damaged, or not a backup by this version`);
    const carried = await endRevoked(draft, lock?.sql, { now, quietly });
    syncFile(draft);
    // Windows replaces no open file, and so none of a service.
    if (platform() === 'win32') lock?.unlock();
    const kept = `${target}.before-${now().toISOString().replaceAll(':', '')}`;
    // The old database has its name until the copy takes it.
    if (old)
      try {
        linkSync(target, kept);
      } catch {
        copyFileSync(target, kept, constants.COPYFILE_EXCL);
      }
    syncFolder(dirname(target));
    // A database that is damaged or gone has left a log, which SQLite would take for that of the new one.
    for (const end of ['-wal', '-journal'])
      if (existsSync(target + end)) renameSync(target + end, kept + end);
    rmSync(`${target}-shm`, { force: true });
    nameFile(draft, target, old !== undefined);
    return { database: target, kept: old ? kept : null, ...carried };
  } catch (cause) {
    throw copyError(cause, `cannot restore "${file}"`);
  } finally {
    lock?.unlock();
    for (const end of ['', '-wal', '-shm', '-journal']) rmSync(draft + end, { force: true });
  }
}

/** @throws ServiceError when the file cannot be a copy */
function checkSource(file: string, target: string): void {
  const [source, own] = [file, target].map((path) => statSync(path, { throwIfNoEntry: false }));
  if (!source?.isFile()) throw invalidInput(`no such file: "${file}"`);
  if (source.ino === own?.ino && source.dev === own.dev)
    throw invalidInput(`"${file}" is the database itself`);
  if (existsSync(`${file}-wal`))
    throw invalidInput(`"${file}" has a write-ahead log, which a backup has not`);
}

/** Whether a service could use the copy. @throws ServiceError when its key is not in the key file */
function isUsable(copy: string, location: DataLocation, quietly: Quietly): Promise<boolean> {
  return using(openSqlite(copy, quietly), async (database) => {
    const [row] = await database.sql<object>`PRAGMA integrity_check(1)`;
    if (Object.values(row ?? {})[0] !== 'ok') return false;
    const schema = await using(openMemory(quietly), (model) =>
      migrate(model).then(() => schemaOf(model)),
    );
    if ((await schemaOf(database)) !== schema) return false;
    await migrate(database);
    // Data that no service has opened yet has no key.
    if ((await findKey(database.sql)) !== undefined) await keyInUse(database.sql, location);
    return true;
  });
}

/** Ends tokens in the copy before it has its name, so that a crash cannot make them valid. */
async function endRevoked(
  copy: string,
  newer: Sql | undefined,
  { now, quietly }: Pick<ServiceIo, 'now'> & { readonly quietly: Quietly },
) {
  // A service refuses the old database, should somebody copy it over this one: see `OpenFiles`.
  const connection = (await sqliteDriver(quietly))(copy);
  pragma(connection, `user_version = ${randomInt(2 ** 31)}`);
  checkpoint(connection);
  connection.close();
  return using(openSqlite(copy, quietly), async (database) => {
    const carried = await carryRevocations(database, newer, now().getTime());
    // The copy takes its name without its log.
    if (!(await database.scrub())) throw new Error('the log cannot be merged');
    return carried;
  });
}

async function schemaOf({ sql }: Database): Promise<string> {
  const rows = await sql`
    SELECT sql FROM sqlite_master WHERE name NOT LIKE 'sqlite%' AND name <> 'moved' ORDER BY name`;
  return JSON.stringify(rows);
}

/** What became of the tokens that are valid in an older copy of a database, and of its trusts. */
interface CarriedTokens {
  /** Those that were revoked or replaced since, and are not valid in the copy any more. */
  readonly revoked: Pick<TokenSummary, 'id' | 'name'>[];
  /** Those of which the newer database cannot tell whether they were revoked. */
  readonly unchecked: Pick<TokenSummary, 'id' | 'name'>[];
  /** The trusts that were removed since, and those of which the newer database cannot tell, by name. */
  readonly trusts: { readonly removed: string[]; readonly unchecked: string[] };
}

/**
 * Ends in a copy of a database the tokens that were revoked or replaced and the trusts that were removed since the copy
 * was made, by what the database has now. Users are never deleted, so a database without a user, who is known by name and
 * time, did not come from the copy and tells nothing of the user's tokens: new data must not count as the revocation of all
 * tokens.
 * @param newer reads the newer database; undefined if it is missing or damaged
 */
async function carryRevocations(copy: Database, newer: Sql | undefined, now: number) {
  // A database that is damaged, or has another schema, tells nothing.
  const rowsOf = async <T>(list: (sql: Sql) => Promise<T[]>) =>
    newer ? list(newer).catch(() => []) : [];
  const held = await rowsOf(listHeld);
  const users = new Set(held.map(userOf));
  const makers = new Set((await rowsOf(listTrusts)).map(({ maker }) => maker));
  const ends = new Map(held.map(({ digest, ends_at }) => [digest && hex(digest), ends_at]));
  return copy.transaction(async (sql) => {
    const trusts: CarriedTokens['trusts'] = { removed: [], unchecked: [] };
    const carried: CarriedTokens = { revoked: [], unchecked: [], trusts };
    for (const row of await listHeld(sql)) {
      const { selector: id, name } = row;
      if (id === null || (row.ends_at !== null && row.ends_at <= now)) continue;
      const end = ends.get(hex(row.digest));
      if (!users.has(userOf(row))) carried.unchecked.push({ id, name });
      else if (end === undefined || (end !== null && end <= now)) {
        await deleteToken(sql, id);
        carried.revoked.push({ id, name });
      } else if (end !== null) await endToken(sql, id, end, now);
    }
    for (const { name, maker, user, since } of await listTrusts(sql)) {
      const isKnown = users.has(userOf({ name: user, since }));
      if (isKnown && makers.has(maker)) continue;
      if (isKnown) await deleteTrust(sql, name, now);
      trusts[isKnown ? 'removed' : 'unchecked'].push(name);
    }
    return carried;
  });
}

const userOf = ({ name, since }: { readonly name: string; readonly since: number }) =>
  `${since} ${name}`;

const hex = (digest: Uint8Array) => Buffer.from(digest).toString('hex');
