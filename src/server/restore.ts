import {
  constants,
  copyFileSync,
  createReadStream,
  createWriteStream,
  existsSync,
  linkSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { platform } from 'node:os';
import { dirname, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { makeFile, nameFile } from '../platform/files/atomic-file';
import { syncFile, syncFolder } from '../platform/files/sync';
import { keyInUse } from './keys/rotation';
import { copyError, draftOf, ofPostgres } from './ops/database-copy';
import { invalidInput, ServiceError } from './service-errors';
import type { ServiceIo } from './service-settings';
import { type DatabaseIo, type DataLocation, migrate, pathIn } from './store/database';
import { findKey } from './store/key-rows';
import { type Database, isDamaged } from './store/sql';
import { lockSqlite, openMemory, openSqlite } from './store/sqlite';
import type { Quietly } from './store/sqlite-driver';

/**
 * Puts a copy that `backup` made in the place of the database, and keeps the old one beside it. A crash leaves one of the
 * two. Returns the paths of the database and of the old one, if there was one.
 * @throws ServiceError when a program uses the database, or a service could not use the copy; then the data is as before
 */
export async function restore(
  location: DataLocation,
  file: string,
  { now, quietly = (load) => load() }: DatabaseIo & Pick<ServiceIo, 'now'>,
) {
  if (location.database !== undefined) throw ofPostgres('restore it with pg_restore');
  const target = resolve(pathIn(location.data));
  checkSource(file, target);
  const draft = draftOf(target);
  let unlock = () => {};
  try {
    mkdirSync(location.data, { recursive: true, mode: 0o700 });
    if (existsSync(target)) unlock = await lockSqlite(target, quietly);
    const old = statSync(target, { throwIfNoEntry: false });
    makeFile(draft, () => {}, old);
    await pipeline(createReadStream(file), createWriteStream(draft, { flags: 'r+' }));
    const problem = await problemOf(draft, location, quietly);
    if (problem) throw new ServiceError(`"${file}" ${problem}`);
    syncFile(draft);
    // Windows replaces no open file, and so none of a service.
    if (platform() === 'win32') unlock();
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
    return { database: target, kept: old ? kept : null };
  } catch (cause) {
    throw copyError(cause, `cannot restore "${file}"`);
  } finally {
    unlock();
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

/**
 * Returns why a service could not use the copy.
 * @throws ServiceError when its key is not in the key file
 */
async function problemOf(copy: string, location: DataLocation, quietly: Quietly) {
  const model = await openMemory(quietly);
  let database: Database | undefined;
  try {
    await migrate(model);
    database = await openSqlite(copy, quietly);
    const [row] = await database.sql<object>`PRAGMA integrity_check(1)`;
    if (Object.values(row ?? {})[0] !== 'ok') return DAMAGED;
    if ((await schemaOf(database)) !== (await schemaOf(model)))
      return 'is not a backup by this version of the program';
    // Data that no service has opened yet has no key.
    if ((await findKey(database.sql)) !== undefined) await keyInUse(database.sql, location);
    return undefined;
  } catch (error) {
    if (isDamaged(error)) return DAMAGED;
    throw error;
  } finally {
    await database?.close();
    await model.close();
  }
}

const DAMAGED = 'is damaged, or not a backup';

async function schemaOf({ sql }: Database): Promise<string> {
  return JSON.stringify(
    await sql`
    SELECT sql FROM sqlite_master WHERE name NOT LIKE 'sqlite%' ORDER BY name`,
  );
}
