import { existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Refusal } from './refusal';
import { ServiceError, systemCode } from './service-error';
import type { ServiceIo, ServiceSettings } from './settings';
import { readAddress } from './store/address';
import { migrate } from './store/migrations';
import type { Database } from './store/sql';
import { openSqlite } from './store/sqlite';

/** The name of the database in the service's folder. */
export const FILE = 'pwpush.db';

/** Where the data are: as in the settings. */
export type Where = Pick<ServiceSettings, 'data' | 'database'> & { readonly ephemeral?: boolean };

/** What the database refuses where there is no request to answer. */
export function inWords(error: unknown): unknown {
  if (!(error instanceof Refusal)) return error;
  const away = error.kind === 'away';
  return new ServiceError(
    away ? 'the database cannot be reached' : 'the data is in use by another program',
    { cause: error },
  );
}

/** The database of those settings, with today's schema. Throws a `ServiceError`. */
export async function openDatabase(
  where: Where,
  io: Pick<ServiceIo, 'quietly' | 'env'>,
): Promise<Database> {
  let database: Database | undefined;
  try {
    database = await (where.database === undefined || where.ephemeral
      ? openFile(where, io)
      : openServer(where.database, io));
    await migrate(database);
    return database;
  } catch (error) {
    await database?.close();
    throw error instanceof ServiceError ? error : openError(error, where);
  }
}

/** The same, when a service has made it. */
export async function openExisting(
  where: Where,
  io: Pick<ServiceIo, 'quietly' | 'env'>,
): Promise<Database> {
  fileOf(where);
  return openDatabase(where, io);
}

/** The path of a database that a service has made; nothing when it is not in a file. Throws a `ServiceError`. */
export function fileOf({ data, database }: Where): string | undefined {
  if (database !== undefined) return undefined;
  const file = join(data, FILE);
  // Where that is no folder, opening it says so.
  const folder = statSync(data, { throwIfNoEntry: false })?.isDirectory() ?? true;
  if (existsSync(file) || !folder) return file;
  throw new ServiceError(`there is no database in ${data}`, {
    hint: 'name the folder that the service has with --data',
  });
}

function openError(cause: unknown, { data, database }: Where): unknown {
  if (cause instanceof Refusal) return inWords(cause);
  const code = systemCode(cause);
  const said = `cannot be opened${code && ` (${code})`}`;
  if (database === undefined) {
    const hint = 'name a folder of your own with --data';
    return new ServiceError(`the data in ${data} ${said}`, { hint, cause });
  }
  const hint = 'it has to be a database of its own, in which the user may make tables';
  return new ServiceError(`the database ${said}`, { hint, cause });
}

function openFile(
  { data, ephemeral = false }: Where,
  { quietly = (load) => load() }: Pick<ServiceIo, 'quietly'>,
): Promise<Database> {
  if (!ephemeral) mkdirSync(data, { recursive: true, mode: 0o700 });
  return openSqlite(ephemeral ? ':memory:' : join(data, FILE), quietly);
}

async function openServer(url: string, { env }: Pick<ServiceIo, 'env'>): Promise<Database> {
  const address = readAddress(url, env);
  const { openPostgres } = await import('./store/postgres');
  return openPostgres(address);
}
