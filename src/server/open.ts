import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type App, createApp } from './app';
import { Files } from './files';
import { isReadByOthers, makeInstanceKey, readInstanceKey } from './instance-key';
import { createLog, type Log } from './log';
import { type OwnerSummary, Owners } from './owners';
import { Pushes } from './pushes';
import { Refusal } from './refusal';
import { ServiceError, systemCode } from './service-error';
import {
  boundsOf,
  fileBytesOf,
  publicUrlOf,
  type ServiceIo,
  type ServiceSettings,
} from './settings';
import { findFact, keepFact } from './store/facts';
import { migrate } from './store/migrations';
import type { Database } from './store/sql';
import { openSqlite } from './store/sqlite';
import { createVault, type Vault } from './vault';

/** The service without a socket. */
export interface OpenService {
  readonly app: App;
  readonly owners: Owners;
  readonly pushes: Pushes;
  readonly log: Log;
  close(): Promise<void>;
}

const KEY_ID = 'instance key id';
const FILE = 'pwpush.db';

/** Opens data and instance key, made when missing. Throws a `ServiceError` that says what is wrong with them. */
export async function openService(settings: ServiceSettings, io: ServiceIo): Promise<OpenService> {
  const bounds = boundsOf(settings);
  const publicUrl = publicUrlOf(settings);
  const fileBytes = fileBytesOf(settings);
  const log = createLog(io, settings.log);
  const database = await openDatabase(settings.ephemeral ? undefined : settings.data, io);
  try {
    const vault = await openVault(database, settings, log);
    const owners = new Owners(database, io.now);
    const files = new Files({ database, vault, fileBytes, clock: io.now });
    await files.dropUnfinished();
    const pushes = new Pushes(database, vault, files, bounds, io.now);
    const app = createApp({
      pushes,
      files,
      owners,
      ping: async () => void (await database.sql`SELECT 1`),
      now: io.now,
      log,
      settings: { ...settings, publicUrl, fileBytes, version: io.version },
    });
    return { app, owners, pushes, log, close: () => database.close() };
  } catch (error) {
    await database.close();
    throw inWords(error);
  }
}

/** The owners of a data folder, for `serve token`; works beside a running service. */
export async function openOwners(
  data: string,
  io: Pick<ServiceIo, 'now' | 'quietly'>,
): Promise<{
  /** The new token, never to be had again. */
  add(name: string): Promise<string>;
  list(): Promise<OwnerSummary[]>;
  /** How many tokens there were. */
  revoke(name: string): Promise<number>;
  close(): Promise<void>;
}> {
  let database: Database | undefined;
  const owners = async () => {
    database ??= await openDatabase(data, io);
    return new Owners(database, io.now);
  };
  const there = async () => {
    // Where that is no folder, opening it says so.
    const folder = statSync(data, { throwIfNoEntry: false })?.isDirectory() ?? true;
    if (existsSync(join(data, FILE)) || !folder) return owners();
    throw new ServiceError(`there is no database in ${data}`, {
      hint: 'name the folder that the service has with --data',
    });
  };
  const said = <T>(work: Promise<T>) =>
    work.catch((error: unknown) => Promise.reject(inWords(error)));
  return {
    add: (name) => said(owners().then((all) => all.add(name))),
    list: () => said(there().then((all) => all.list())),
    revoke: (name) => said(there().then((all) => all.revoke(name))),
    close: async () => database?.close(),
  };
}

/** What the database refuses where there is no request to answer. */
export function inWords(error: unknown): unknown {
  if (!(error instanceof Refusal)) return error;
  return new ServiceError('the data is in use by another program', { cause: error });
}

/** The database in that folder, or in memory without one, with today's schema. */
async function openDatabase(
  data: string | undefined,
  { quietly = (load) => load() }: Pick<ServiceIo, 'quietly'>,
): Promise<Database> {
  let database: Database | undefined;
  try {
    if (data !== undefined) mkdirSync(data, { recursive: true, mode: 0o700 });
    const path = data === undefined ? ':memory:' : join(data, FILE);
    database = await openSqlite(path, quietly);
    await migrate(database);
    return database;
  } catch (cause) {
    await database?.close();
    if (cause instanceof ServiceError) throw cause;
    if (cause instanceof Refusal) throw inWords(cause);
    const code = systemCode(cause);
    throw new ServiceError(`the data in ${data} cannot be opened${code && ` (${code})`}`, {
      hint: 'name a folder of your own with --data',
      cause,
    });
  }
}

/** A key made by an earlier start must be there again: another one would open nothing. */
async function openVault(database: Database, settings: ServiceSettings, log: Log): Promise<Vault> {
  if (settings.ephemeral) return createVault(randomBytes(32));
  const path = settings.instanceKeyFile ?? join(settings.data, 'instance.key');
  const known = await findFact(database.sql, KEY_ID);
  const key = (await readInstanceKey(path)) ?? (known ? undefined : await makeInstanceKey(path));
  if (!key) {
    throw new ServiceError(`the instance key ${path} is missing`, {
      hint: 'restore it from a backup',
    });
  }
  const vault = createVault(key);
  if ((await keepFact(database.sql, KEY_ID, vault.keyId)) !== vault.keyId) {
    throw new ServiceError(`the instance key ${path} is not the one this data was sealed with`, {
      hint: 'restore the key or the data from a backup',
    });
  }
  if (await isReadByOthers(path))
    log.warning(`others can read the instance key ${path}; make it 0600`);
  return vault;
}
