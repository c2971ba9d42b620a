import { existsSync, lstatSync, realpathSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import { asRoot } from '../../platform/files/acting';
import { draftOf, dropDrafts, makeFile, nameFile } from '../../platform/files/atomic-file';
import { syncFile } from '../../platform/files/sync';
import { invalidInput, ServiceError, systemCode } from '../service-errors';
import { asServiceError, type DatabaseIo, type DataLocation, fileOf } from '../store/database';
import { isFull, sqlCode } from '../store/sql';
import { openSqlite } from '../store/sqlite';

/** Another backup to the same file, which runs, writes to its draft all the time. */
const ABANDONED_MS = 10 * 60_000;

/**
 * Copies the SQLite database of a service, which may be running: everything committed before the start, without deleted
 * data. The copy (0600) is complete and synced to disk when it gets its name. Returns its size in bytes.
 * @throws ServiceError when there are no data, or the copy cannot be written
 */
export async function backup(
  location: DataLocation,
  { file, force }: { readonly file: string; readonly force: boolean },
  { quietly = (load) => load() }: DatabaseIo,
): Promise<number> {
  const source = fileOf(location);
  if (source === undefined) throw ofPostgres('make the backup with pg_dump');
  const target = asRoot(() => checkTarget(file, source, force));
  const draft = draftOf(target);
  try {
    dropDrafts(target, ABANDONED_MS);
    makeFile(draft);
    const database = await openSqlite(source, quietly);
    const stop = syncRegularly(draft);
    await database.sql`VACUUM INTO ${draft}`.finally(stop).finally(() => database.close());
    const bytes = syncFile(draft);
    nameFile(draft, target, force);
    return bytes;
  } catch (cause) {
    if (systemCode(cause) === 'EEXIST') throw existsError(file);
    const hint = 'the owner of the data must be able to write there';
    throw copyError(cause, `cannot write the backup "${file}"`, hint);
  } finally {
    for (const left of [draft, `${draft}-journal`]) asRoot(() => rmSync(left, { force: true }));
  }
}

export function ofPostgres(hint: string): ServiceError {
  return invalidInput('only SQLite can be copied, and the data is in PostgreSQL', hint);
}

/**
 * Syncs a file to disk continuously, from another thread, because SQLite blocks the main thread. A single sync at the
 * end would delay the commits of a running service. Returns a function that stops it.
 */
function syncRegularly(path: string): () => Promise<unknown> {
  const code = `
    const { fsyncSync, openSync } = require('node:fs');
    const file = openSync(require('node:worker_threads').workerData, 'r+');
    setInterval(() => fsyncSync(file), 5);`;
  const worker = new Worker(code, { eval: true, workerData: path });
  // An error is not fatal, as the copy is synced at the end anyway.
  worker.on('error', () => undefined);
  return () => worker.terminate();
}

/**
 * Returns the absolute path of the copy.
 * @throws ServiceError when the file exists without `force`, is not a regular file, or belongs to the database
 */
function checkTarget(file: string, source: string, force: boolean): string {
  const folder = dirname(resolve(file));
  if (!existsSync(folder)) throw invalidInput(`no such folder: "${dirname(file)}"`);
  const target = join(realpathSync(folder), basename(resolve(file)));
  const own = realpathSync(source);
  if ([own, `${own}-wal`, `${own}-shm`].includes(target))
    throw invalidInput(`"${file}" is the database itself`);
  const present = lstatSync(target, { throwIfNoEntry: false });
  if (present && !present.isFile()) throw invalidInput(`"${file}" is not a regular file`);
  if (present && !force) throw existsError(file);
  return target;
}

function existsError(file: string): ServiceError {
  return invalidInput(`"${file}" already exists`, 'overwrite it with --force');
}

/** @param permission what to do if the file system refuses it */
export function copyError(cause: unknown, message: string, permission?: string): unknown {
  const known = asServiceError(cause);
  if (known instanceof ServiceError) return known;
  if (isFull(cause)) return new ServiceError(`${message}: the disk is full`, { cause });
  const code = sqlCode(cause);
  const hint = code === 'EACCES' ? permission : undefined;
  return new ServiceError(`${message}${code && ` (${code})`}`, { cause, ...(hint && { hint }) });
}
