import { lazy } from '../contract/lazy';
import { durationText } from '../contract/lifetime';
import { createApp } from './app';
import { readKeys } from './keys/instance-key';
import { openKeyring } from './keys/keyring';
import { keyInUse } from './keys/rotation';
import { Vault } from './keys/vault';
import { createLog } from './ops/log';
import { createMetrics, health, type PushEvents, scraper } from './ops/metrics';
import { Owners } from './owners/owners';
import { Pushes } from './pushes/pushes';
import { Requests } from './requests/requests';
import { Operator } from './rules/ending';
import { Files } from './rules/files';
import { Housekeeping } from './rules/housekeeping';
import { Space } from './rules/space';
import { ServiceError } from './service-errors';
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
import { watched } from './store/watched';
import { IssuerKeys } from './trust/issuer-keys';
import { TokenExchange } from './trust/token-exchange';
import { Trusts } from './trust/trusts';

/** A service without sockets. */
export type OpenService = Awaited<ReturnType<typeof openService>>;

/**
 * Opens the database and the instance key, and creates missing ones.
 * @param observer receives events in place of the metrics
 * @throws ServiceError when a setting is invalid, or the database or key cannot be opened
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
  // The key is read first, so that an unreadable key does not leave a new database behind.
  if (!settings.ephemeral) readKeys(keyFileOf(settings));
  const memory = (settings.maxData ?? memoryShare(io)) + checked.reserve;
  const database = watched(await openDatabase({ ...settings, memory }, io), log.warning);
  try {
    const keys = await openKeyring(database, settings, log, io.env);
    const clock = await clockOf(database, io, log.warning);
    const owners = new Owners(database, clock.now);
    const milliseconds = () => clock.now().getTime();
    const shared = {
      ...checked,
      database,
      vault: new Vault(keys, io.passphraseCost),
      space: new Space(database, checked.reserve, log.warning, milliseconds),
      now: milliseconds,
      events,
      report: log.failure,
    };
    const files = new Files(shared);
    const others = await database.others();
    await files.abandonStale(others === 'none');
    await database.setAside();
    const pushes = new Pushes({ ...shared, files });
    const requests = new Requests({ ...shared, files });
    const housekeeping = new Housekeeping({ ...shared, files, setClock: clock.set });
    const isUp = health(() => database.check());
    const exchanging = {
      database,
      owners,
      keys: new IssuerKeys({ ...io, now: clock.now }),
      now: clock.now,
    };
    const exchange = new TokenExchange(exchanging, checked.publicUrl);
    const app = createApp({
      pushes,
      requests,
      files,
      owners,
      exchange,
      isUp,
      events,
      log,
      now: clock.now,
      settings: { ...checked, site, version: io.version },
    });
    const close = async () => {
      housekeeping.halt();
      await requests.finish();
      await pushes.finish();
      await database.close();
    };
    const countActive = () => pushes.countActive();
    const scrape = scraper(metrics, { ...io, isUp, countActive });
    const isShared = others === 'some';
    const parts = { app, owners, pushes, requests, housekeeping, log, scrape, exchange };
    return { settings: checked, isShared, ...parts, close };
  } catch (error) {
    await database.close();
    throw asServiceError(error);
  }
}

/**
 * Opens the database of a service for its operator, also while the service runs.
 * @param create whether a missing database is created; undefined if it never is
 * @throws ServiceError
 */
export async function openForOperator(
  location: DataLocation,
  io: Pick<ServiceIo, 'now' | 'serverNow' | 'quietly' | 'env'>,
  create?: boolean,
) {
  let created = false;
  const note = () => {
    created = true;
  };
  const otherwise = create === false ? ', or --create to make one' : undefined;
  const database = await (create
    ? openDatabase(location, io, note)
    : openExisting(location, io, otherwise));
  const links = lazy(async () => (await keyInUse(database.sql, location)).links);
  // By the clock of a service, but however much it differs: a wrong one must not keep a token from being revoked.
  const ahead = await measureAhead(database, io);
  const now = () => new Date(io.now().getTime() - ahead);
  return {
    owners: new Owners(database, now),
    trusts: new Trusts(database, now),
    operator: new Operator(database, now, links),
    created,
    close: () => database.close(),
  };
}

/** Maximum difference between the clocks of this machine and of the database server. */
const DIFFERENCE_MS = 5 * 60_000;

/** After the first, a measurement of the difference that takes longer is discarded. */
const MEASUREMENT_MS = 1000;

interface Clock {
  readonly now: () => Date;
  /**
   * Measures the difference between the clocks. Returns false and keeps the previous one if the new one exceeds five
   * minutes, so that no sweep destroys data because a clock jumped.
   */
  set(): Promise<boolean>;
}

/**
 * Returns the clock by which all services of a database compare times: that of the database server, or for SQLite that
 * of this machine. The difference to the clock of this machine is measured at the start and at each sweep, so that no
 * request has to ask the server. Services differ by half a round trip and by the drift between sweeps.
 * @throws ServiceError when the clocks differ by more than five minutes
 */
async function clockOf(
  database: Database,
  io: Pick<ServiceIo, 'now' | 'serverNow'>,
  warn: (message: string) => void,
): Promise<Clock> {
  let ahead = await measureAhead(database, io);
  let wasWrong = false;
  if (isWrong(ahead))
    throw new ServiceError(difference(ahead), {
      hint: 'set the clocks of both machines, best by NTP: they may differ by 5 minutes',
    });
  return {
    now: () => new Date(io.now().getTime() - ahead),
    async set() {
      const measured = await measureAhead(database, io, { slow: MEASUREMENT_MS, otherwise: ahead });
      if (isWrong(measured) && !wasWrong) warn(difference(measured));
      wasWrong = isWrong(measured);
      if (!wasWrong) ahead = measured;
      return !wasWrong;
    },
  };
}

/** Returns the milliseconds by which this machine is ahead, or `otherwise` if the server took longer than `slow`. */
async function measureAhead(
  database: Database,
  { now, serverNow }: Pick<ServiceIo, 'now' | 'serverNow'>,
  { slow = Number.POSITIVE_INFINITY, otherwise = 0 } = {},
): Promise<number> {
  // `serverNow` returns at once, so no round trip is subtracted.
  if (serverNow) return now().getTime() - serverNow().getTime();
  const began = performance.now();
  const time = await database.time();
  const took = performance.now() - began;
  if (time === undefined) return 0;
  return took <= slow ? Math.round(now().getTime() - took / 2 - time) : otherwise;
}

const isWrong = (ahead: number) => Math.abs(ahead) > DIFFERENCE_MS;

function difference(ahead: number): string {
  const which = ahead > 0 ? 'ahead of' : 'behind';
  const time = durationText(Math.abs(ahead) / 1000);
  return `the clock of this machine is ${time} ${which} that of the database server`;
}
