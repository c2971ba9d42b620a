import { randomBytes } from 'node:crypto';
import { existsSync, realpathSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import { makeFile, nameFile, syncFile } from '../../system/atomic-file';
import { ServiceError, systemCode } from '../service-error';
import type { ServiceIo } from '../service-settings';
import { fileOf, inWords, type Where } from '../store/database';
import { openSqlite } from '../store/sqlite';

export interface BackupOptions {
  /** Where the copy goes. */
  readonly file: string;
  /** Whether it may take the place of a file that is there. */
  readonly force: boolean;
}

/**
 * Copies the database of a service, which may be running: all that was committed before it began, without a trace of
 * what was deleted. The copy appears whole or not at all, 0600, on the disk when this resolves. Answers its bytes.
 */
export async function backup(
  where: Where,
  { file, force }: BackupOptions,
  { quietly = (load) => load() }: Pick<ServiceIo, 'quietly'>,
): Promise<number> {
  const source = fileOf(where);
  if (source === undefined) {
    throw new ServiceError('this copies a SQLite file, and the data are in PostgreSQL', {
      hint: 'make the backup with pg_dump',
      input: true,
    });
  }
  const target = targetOf(file, source, force);
  const draft = `${target}.${randomBytes(6).toString('hex')}`;
  try {
    makeFile(draft);
    const database = await openSqlite(source, quietly);
    const stop = flushing(draft);
    await database.sql`VACUUM INTO ${draft}`.finally(stop).finally(() => database.close());
    const bytes = syncFile(draft);
    nameFile(draft, target, force);
    return bytes;
  } catch (cause) {
    throw backupError(cause, file);
  } finally {
    for (const left of [draft, `${draft}-journal`]) rmSync(left, { force: true });
  }
}

/**
 * Brings what is written to a file to the disk bit by bit, from another thread, as SQLite blocks this one: with all of it
 * at the end the commits of a service would wait for it. Answers what stops that.
 */
function flushing(path: string): () => Promise<unknown> {
  const code = `
    const { fsyncSync, openSync } = require('node:fs');
    const file = openSync(require('node:worker_threads').workerData, 'r+');
    setInterval(() => fsyncSync(file), 5);`;
  const worker = new Worker(code, { eval: true, workerData: path });
  // The copy is synced at the end all the same.
  worker.on('error', () => undefined);
  return () => worker.terminate();
}

/** The absolute path. Throws a `ServiceError` when something is there, or it is a file of the database itself. */
function targetOf(file: string, source: string, force: boolean): string {
  const folder = dirname(resolve(file));
  if (!existsSync(folder)) {
    throw new ServiceError(`there is no folder ${dirname(file)}`, { input: true });
  }
  const target = join(realpathSync(folder), basename(resolve(file)));
  const own = realpathSync(source);
  if ([own, `${own}-wal`, `${own}-shm`].includes(target)) {
    throw new ServiceError(`${file} is the database itself`, { input: true });
  }
  if (existsSync(target) && !force) throw isThere(file);
  return target;
}

function isThere(file: string): ServiceError {
  return new ServiceError(`${file} exists and was left as it is`, {
    hint: 'overwrite it with --force',
    input: true,
  });
}

function backupError(cause: unknown, file: string): unknown {
  const code = systemCode(cause);
  if (code === 'EEXIST') return isThere(file);
  const said = inWords(cause);
  if (said instanceof ServiceError) return said;
  return new ServiceError(`the backup ${file} cannot be written${code && ` (${code})`}`, { cause });
}
