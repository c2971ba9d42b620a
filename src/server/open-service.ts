import { createApp } from './app';
import { clockOf } from './clock';
import { readKeys } from './keys/instance-key';
import { openKeyring } from './keys/keyring';
import { Vault } from './keys/vault';
import { createLog } from './ops/log';
import { createMetrics, health, type PushEvents, scraper } from './ops/metrics';
import { Files } from './rules/files';
import { Housekeeping } from './rules/housekeeping';
import { Owners } from './rules/owners';
import { Pushes } from './rules/pushes';
import { Requests } from './rules/requests';
import { Space } from './rules/space';
import {
  checkSettings,
  memoryShare,
  type ServiceIo,
  type ServiceSettings,
} from './service-settings';
import { siteOf } from './site-identity';
import {
  asServiceError,
  type DataLocation,
  keyFileOf,
  openDatabase,
  openExisting,
} from './store/database';
import type { Database } from './store/sql';

/** A service without sockets. */
export type OpenService = Awaited<ReturnType<typeof openService>>;

/**
 * Opens the database and the instance key, and creates missing ones.
 * @param observer receives events in place of the metrics
 * @throws ServiceError that says what is wrong with them
 */
export async function openService(
  settings: ServiceSettings,
  io: ServiceIo,
  observer?: Partial<PushEvents>,
) {
  const checked = checkSettings(settings);
  const site = await siteOf(settings);
  const metrics = createMetrics();
  const events = { ...metrics, ...observer };
  const log = createLog(io, settings.log, metrics);
  // A key that cannot be read is no reason to create a database.
  if (!settings.ephemeral) await readKeys(keyFileOf(settings));
  const memory = (settings.maxData ?? memoryShare(io)) + checked.reserve;
  const database = await openDatabase({ ...settings, memory }, io);
  try {
    const keys = await openKeyring(database, settings, log);
    const clock = await clockOf(database, io, log.warning);
    const owners = new Owners(database, clock.now);
    const shared = {
      ...checked,
      database,
      vault: new Vault(keys, io.passphraseCost),
      space: new Space(database, checked.reserve, log.warning),
      now: () => clock.now().getTime(),
      events,
      report: log.failure,
    };
    const files = new Files(shared);
    await files.abandonUnfinished();
    await database.setAside();
    const pushes = new Pushes({ ...shared, files });
    const requests = new Requests({ ...shared, files });
    const housekeeping = new Housekeeping({ ...shared, files, setClock: clock.set });
    const isUp = health(async () => void (await database.sql`SELECT 1`));
    const app = createApp({
      ...{ pushes, requests, files, owners, isUp, events, log },
      now: clock.now,
      settings: { ...settings, ...checked, site, version: io.version },
    });
    const close = async () => {
      housekeeping.halt();
      await requests.finish();
      await pushes.finish();
      await database.close();
    };
    const scrape = scraper(metrics, {
      version: io.version,
      isUp,
      countActive: () => pushes.countActive(),
      usage: io.usage,
    });
    return { app, owners, pushes, requests, housekeeping, log, scrape, close };
  } catch (error) {
    await database.close();
    throw asServiceError(error);
  }
}

/** The owners in a service's database, for `serve token`; may run beside the service. */
export async function openOwners(
  location: DataLocation,
  io: Pick<ServiceIo, 'now' | 'quietly' | 'env'>,
) {
  let database: Database | undefined;
  const owners = async <T>(open: typeof openDatabase, work: (owners: Owners) => Promise<T>) => {
    try {
      database ??= await open(location, io);
      return await work(new Owners(database, io.now));
    } catch (error) {
      throw asServiceError(error);
    }
  };
  return {
    add: (name: string) => owners(openDatabase, (all) => all.add(name)),
    list: () => owners(openExisting, (all) => all.list()),
    revoke: (name: string) => owners(openExisting, (all) => all.revoke(name)),
    close: async () => database?.close(),
  };
}
