import { isLoopback } from '../contract/address';
import { raceWithLimit } from '../platform/files/abort';
import { lazy } from '../platform/files/lazy';
import { connectionLimitOf } from './http/hardening/connection-limit';
import { GRACE } from './http/hardening/graceful-stop';
import type { Timeouts } from './http/hardening/timeouts';
import { createSockets, readTls, tlsReloader } from './http/sockets';
import { openService } from './open-service';
import { type Listening, type ListenTarget, outwardUrl } from './ops/listen';
import type { Log } from './ops/log';
import { serveMetrics } from './ops/metrics';
import { notifier, passedSockets, writesToJournal } from './ops/systemd';
import { sweepRegularly } from './rules/housekeeping';
import {
  checkSettings,
  readingRateOf,
  type ServiceIo,
  type ServiceSettings,
} from './service-settings';
import { asServiceError } from './store/database';

export { serveHere } from './here/serve-here';
export { serveRequest } from './here/serve-request';
export { rekey } from './keys/rotation';
export { openOwners } from './open-service';
export { backup } from './ops/database-copy';
export type { OwnerSummary } from './rules/owners';
export { ServiceError } from './service-errors';
export type { ServiceIo, ServiceSettings } from './service-settings';
export { keyFileOf } from './store/database';

export interface Service {
  /** The public URL, or else the first address that others reach, or else one that this machine reaches. */
  readonly url: string;
  /** The URL by which this machine reaches it. */
  readonly localUrl: string;
  /** Whether it listens on loopback addresses only. */
  readonly loopback: boolean;
  /** The token of `admin`, if this start created it. */
  readonly firstToken?: string;
  /** Writes a warning to the log. */
  warn(message: string): void;
  /** Reads the certificate and key again, for new connections. */
  reload(): Promise<void>;
  /** Accepts no new connections, waits up to 30 s for running requests, and closes the database. */
  close(): Promise<void>;
}

/**
 * Opens the data and listens.
 * @throws ServiceError that says what the operator has to change
 */
export async function startService(
  settings: ServiceSettings,
  io: ServiceIo,
  timeouts: Partial<Timeouts> = {},
): Promise<Service> {
  const { publicUrl } = checkSettings(settings);
  const tls = await readTls(settings);
  const targets = listenTargets(settings, io);
  const service = await openService(settings, io);
  const { log } = service;
  const { now, grace = GRACE, supervision } = io;
  const connections = connectionLimitOf(settings);
  // Behind a proxy, or with a public address, requests name another host.
  const anyHost = Boolean(settings.publicUrl) || settings.trustProxy;
  const options = {
    tls,
    log,
    now,
    timeouts: {
      read: readingRateOf(settings),
      anonymousFiles: settings.anonymous && settings.anonymousFiles === true,
      ...timeouts,
    },
    connections,
    grace,
    ownHost: anyHost ? undefined : settings.host,
  };
  const sockets = createSockets(service.app, targets, options);
  let metrics: Awaited<ReturnType<typeof serveMetrics>> | undefined;
  try {
    const listening = await sockets.listen();
    if (settings.metricsPort !== undefined) {
      const { metricsHost: host = '127.0.0.1', metricsPort: port } = settings;
      metrics = await serveMetrics({ host, port, anyHost }, service.scrape);
    }
    const stopSweeping = sweepRegularly(service.housekeeping, log);
    // Not earlier: the token is shown only once, and a failed start would not show it.
    const journal = supervision !== undefined && writesToJournal(supervision);
    const creates = !journal && settings.firstToken !== false;
    const firstToken = creates ? await service.owners.addFirst() : undefined;
    if (journal && (await service.owners.list()).length === 0) {
      log.warning(
        'no token was created, as the journal would keep it; create one with pwpush serve token add',
      );
    }
    warnIfExposed(listening, settings, log);
    const first = listening.find(({ host }) => host !== undefined) ?? listening[0];
    const localUrl = first?.url ?? '';
    const url = publicUrl ?? (await outwardUrl(localUrl, first?.host)) ?? localUrl;
    const scrape = metrics ? { metrics: metrics.url } : {};
    log.event('start', { url, version: io.version, ...scrape });
    const notify = supervision ? notifier(supervision, log) : async () => {};
    const reload = tlsReloader(sockets.servers, settings, log);
    void notify('READY=1');
    return {
      url,
      localUrl,
      loopback: listening.every(({ host }) => host !== undefined && isLoopback(host)),
      ...(firstToken === undefined ? {} : { firstToken }),
      warn: (message) => log.warning(message),
      reload: async () => {
        void notify('RELOADING=1');
        await reload();
        await notify('READY=1');
      },
      close: lazy(async () => {
        log.event('stopping');
        const notified = notify('STOPPING=1');
        const work = async () => {
          await sockets.stop();
          await stopSweeping();
        };
        await raceWithLimit(work(), { milliseconds: grace }, () => {});
        metrics?.close();
        await service.close();
        await notified;
        log.event('stopped');
      }),
    };
  } catch (error) {
    metrics?.close();
    await sockets.stop();
    await service.close();
    throw asServiceError(error);
  }
}

function warnIfExposed(
  listening: readonly Listening[],
  { tlsCert, trustProxy }: ServiceSettings,
  log: Log,
): void {
  const exposed = listening.find(({ host }) => host !== undefined && !isLoopback(host))?.host;
  if (!exposed || tlsCert || trustProxy) return;
  log.warning(`listening on ${exposed} without TLS: secrets and tokens can be read in transit`);
}

/** The sockets that systemd passed, or else the address in the settings. */
function listenTargets(
  { host, port }: ServiceSettings,
  { supervision }: ServiceIo,
): ListenTarget[] {
  const passed = supervision ? passedSockets(supervision) : [];
  return passed.length > 0 ? passed.map((fd) => ({ fd })) : [{ host, port }];
}
