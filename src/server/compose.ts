import { createApp } from './app';
import type { App } from './http/parts';
import { openKeyring } from './keys/open-keyring';
import { createVault } from './keys/vault';
import { health } from './ops/health';
import { createLog, type Log } from './ops/log';
import { createMetrics, scraper } from './ops/metrics';
import { bothEvents, type PushEvents } from './push-events';
import { Files } from './rules/files';
import { type OwnerSummary, Owners } from './rules/owners';
import { Pushes } from './rules/pushes';
import { Space } from './rules/space';
import {
  boundsOf,
  bufferBytesOf,
  fileBytesOf,
  keepDaysOf,
  maxFailuresOf,
  publicUrlOf,
  rateLimitOf,
  reserveOf,
  type ServiceIo,
  type ServiceSettings,
} from './service-settings';
import { siteOf } from './site';
import { asServiceError, type DataLocation, openDatabase, openExisting } from './store/database';
import type { Database } from './store/sql';

/** A service without sockets. */
export interface OpenService {
  readonly app: App;
  readonly owners: Owners;
  readonly pushes: Pushes;
  readonly log: Log;
  /** The metrics in Prometheus's text format. */
  readonly scrape: () => Promise<string>;
  close(): Promise<void>;
}

/**
 * Opens the database and the instance key, and creates missing ones.
 * @param observer receives the events of pushes, besides the metrics
 * @throws ServiceError that says what is wrong with them
 */
export async function openService(
  settings: ServiceSettings,
  io: ServiceIo,
  observer?: Partial<PushEvents>,
): Promise<OpenService> {
  const bounds = boundsOf(settings);
  const publicUrl = publicUrlOf(settings);
  const fileBytes = fileBytesOf(settings);
  const rateLimit = rateLimitOf(settings);
  const bufferBytes = bufferBytesOf(settings);
  const [reserve, keepDays] = [reserveOf(settings), keepDaysOf(settings)];
  const maxFailures = maxFailuresOf(settings);
  const site = await siteOf(settings);
  const metrics = createMetrics();
  const events = observer ? bothEvents(metrics, observer) : metrics;
  const log = createLog(io, settings.log, metrics);
  const database = await openDatabase(settings, io);
  try {
    const keys = await openKeyring(database, settings, log, io.now);
    const vault = createVault(keys, io.passphraseCost);
    const owners = new Owners(database, io.now);
    const space = new Space(database, reserve, log.warning);
    const shared = { database, vault, space, clock: io.now, events, report: log.failure };
    const files = new Files({ ...shared, fileBytes });
    await files.abandonUnfinished();
    await database.setAside();
    const pushes = new Pushes({ ...shared, files, bounds, keepDays, maxFailures });
    const isUp = health(async () => void (await database.sql`SELECT 1`));
    const app = createApp({
      pushes,
      files,
      owners,
      isUp,
      events,
      now: io.now,
      log,
      settings: {
        ...settings,
        publicUrl,
        anonymousFiles: settings.anonymous && settings.anonymousFiles === true,
        site,
        bounds,
        bufferBytes,
        fileBytes,
        rateLimit,
        version: io.version,
      },
    });
    const close = async () => {
      pushes.halt();
      await pushes.finish();
      await database.close();
    };
    const scrape = scraper(metrics, {
      version: io.version,
      isUp,
      countActive: () => pushes.countActive(),
      usage: io.usage,
    });
    return { app, owners, pushes, log, scrape, close };
  } catch (error) {
    await database.close();
    throw asServiceError(error);
  }
}

/** The owners in a service's database, for `serve token`; may run beside the service. */
export async function openOwners(
  location: DataLocation,
  io: Pick<ServiceIo, 'now' | 'quietly' | 'env'>,
): Promise<{
  /** Returns a new token, of which only a hash is stored. */
  add(name: string): Promise<string>;
  list(): Promise<OwnerSummary[]>;
  /** Returns how many tokens it deleted. */
  revoke(name: string): Promise<number>;
  close(): Promise<void>;
}> {
  let database: Database | undefined;
  const opened = async () => {
    database ??= await openDatabase(location, io);
    return new Owners(database, io.now);
  };
  const existing = async () => {
    database ??= await openExisting(location, io);
    return new Owners(database, io.now);
  };
  const explained = <T>(work: Promise<T>) =>
    work.catch((error: unknown) => Promise.reject(asServiceError(error)));
  return {
    add: (name) => explained(opened().then((all) => all.add(name))),
    list: () => explained(existing().then((all) => all.list())),
    revoke: (name) => explained(existing().then((all) => all.revoke(name))),
    close: async () => database?.close(),
  };
}
