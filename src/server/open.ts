import { randomBytes } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type App, createApp } from './app';
import { FILE, inWords, openDatabase, type Where } from './database';
import { Files } from './files';
import { isReadByOthers, makeInstanceKey, readInstanceKey } from './instance-key';
import { createLog, type Log } from './log';
import type { Gauges } from './metrics/gauges';
import { createMetrics, type Metrics } from './metrics/metrics';
import { type OwnerSummary, Owners } from './owners';
import { passphraseChecks } from './passphrase';
import { Pushes } from './pushes';
import { ServiceError } from './service-error';
import {
  boundsOf,
  fileBytesOf,
  publicUrlOf,
  rateLimitOf,
  type ServiceIo,
  type ServiceSettings,
} from './settings';
import { findFact, keepFact } from './store/facts';
import type { Database } from './store/sql';
import { health } from './up';
import { createVault, type Vault } from './vault';

/** The service without a socket. */
export interface OpenService {
  readonly app: App;
  readonly owners: Owners;
  readonly pushes: Pushes;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly gauges: Gauges;
  close(): Promise<void>;
}

const KEY_ID = 'instance key id';

/** Opens data and instance key, made when missing. Throws a `ServiceError` that says what is wrong with them. */
export async function openService(settings: ServiceSettings, io: ServiceIo): Promise<OpenService> {
  const bounds = boundsOf(settings);
  const publicUrl = publicUrlOf(settings);
  const fileBytes = fileBytesOf(settings);
  const rateLimit = rateLimitOf(settings);
  const metrics = createMetrics();
  const log = metrics.counting(createLog(io, settings.log));
  const database = metrics.timing(await openDatabase(settings, io));
  try {
    const vault = await openVault(database, settings, log);
    const owners = new Owners(database, io.now);
    const files = new Files({ database, vault, fileBytes, clock: io.now, tally: metrics });
    await files.dropUnfinished();
    const pushes = new Pushes(database, vault, files, bounds, io.now, metrics);
    const isUp = health(async () => void (await database.sql`SELECT 1`));
    const app = createApp({
      pushes,
      files,
      owners,
      isUp,
      tally: metrics,
      now: io.now,
      log,
      settings: { ...settings, publicUrl, bounds, fileBytes, rateLimit, version: io.version },
    });
    const gauges: Gauges = {
      version: io.version,
      isUp,
      countActive: () => pushes.countActive(),
      checks: passphraseChecks,
    };
    return { app, owners, pushes, log, metrics, gauges, close: () => database.close() };
  } catch (error) {
    await database.close();
    throw inWords(error);
  }
}

/** The owners of a service's data, for `serve token`; works beside a running service. */
export async function openOwners(
  where: Where,
  io: Pick<ServiceIo, 'now' | 'quietly' | 'env'>,
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
    database ??= await openDatabase(where, io);
    return new Owners(database, io.now);
  };
  const there = async () => {
    const { data } = where;
    if (where.database !== undefined) return owners();
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

/**
 * A key made by an earlier start must be there again: another one would open nothing. Of several that start at once on
 * new data one makes the key, and the others see that they need it.
 */
async function openVault(database: Database, settings: ServiceSettings, log: Log): Promise<Vault> {
  if (settings.ephemeral) return createVault(randomBytes(32));
  const path = settings.instanceKeyFile ?? join(settings.data, 'instance.key');
  const vault = await database.exclusively(async (sql) => {
    const known = await findFact(sql, KEY_ID);
    const key = (await readInstanceKey(path)) ?? (known ? undefined : await makeInstanceKey(path));
    const vault = key && createVault(key);
    if (vault && (await keepFact(sql, KEY_ID, vault.keyId)) === vault.keyId) return vault;
    throw keyError(path, vault !== undefined, settings);
  });
  if (await isReadByOthers(path))
    log.warning(`others can read the instance key ${path}; make it 0600`);
  return vault;
}

function keyError(path: string, isThere: boolean, { database }: ServiceSettings): ServiceError {
  const shared = 'instances on one database share one instance key: copy it from the first one';
  return new ServiceError(
    isThere
      ? `the instance key ${path} is not the one this data was sealed with`
      : `the instance key ${path} is missing`,
    {
      hint:
        database === undefined
          ? `restore ${isThere ? 'the key or the data' : 'it'} from a backup`
          : `${shared}, or restore it from a backup`,
    },
  );
}
