import { isLoopback } from '../contract/address';
import { lazy } from '../contract/lazy';
import { raceWithLimit } from '../platform/files/abort';
import type { Timeouts } from './http/hardening/timeouts';
import { createSockets, readTls, socketOptions, tlsReloader } from './http/sockets';
import { type OpenService, openService } from './open-service';
import { type Listening, type ListenTarget, outwardUrl } from './ops/listen';
import type { Log } from './ops/log';
import { serveMetrics } from './ops/metrics';
import { notifier, passedSockets, writesToJournal } from './ops/systemd';
import { sweepRegularly } from './rules/housekeeping';
import type { ServiceIo, ServiceSettings, Supervision } from './service-settings';
import { asServiceError } from './store/database';
import { tlsWarnings } from './tls-pair';

export { copyData, reopenData } from './copy';
export { rekey } from './keys/rotation';
export { openForOperator } from './open-service';
export { backup } from './ops/database-copy';
export { tryListening } from './ops/listen';
export { restore } from './restore';
export { serveHere } from './serve-here';
export { ServiceError } from './service-errors';
export type { ServiceIo, ServiceSettings } from './service-settings';
export { asServiceError, dataName, keyFileOf } from './store/database';
export { sqliteDriver } from './store/sqlite-driver';

export interface Service {
  /** The public URL, or else one that other machines reach, or else `localUrl`. */
  readonly url: string;
  /** The URL by which this machine reaches the service. */
  readonly localUrl: string;
  /** Whether the service listens on loopback addresses only. */
  readonly loopback: boolean;
  /** The token of `admin`, if this start created it. */
  readonly firstToken: string | undefined;
  /** Whether another service had the data open when this one opened it. */
  readonly isShared: boolean;
  /** Whether the token is in the database of the service, and works. */
  knows(token: string): Promise<boolean>;
  warn(message: string): void;
  /** Reads the certificate and key again, for new connections. */
  reload(): Promise<void>;
  /** Accepts no new connections, waits up to 30 s for running requests, and closes the database. */
  close(): Promise<void>;
}

/** @throws ServiceError that says what the operator has to change */
export async function startService(
  settings: ServiceSettings,
  io: ServiceIo,
  timeouts: Partial<Timeouts> = {},
): Promise<Service> {
  const { supervision } = io;
  const tls = await readTls(settings);
  const targets = listenTargets(settings, supervision);
  const service = await openService(settings, io);
  const { log } = service;
  const options = socketOptions(service.settings, io, { log, tls, timeouts });
  const sockets = createSockets(service.app, targets, options);
  let metrics: Awaited<ReturnType<typeof serveMetrics>> | undefined;
  const closeData = async () => {
    metrics?.close();
    await service.close();
  };
  try {
    const listening = await sockets.listen();
    metrics = await serveMetrics(settings, options.ownHost === undefined, service.scrape);
    const stopSweeping = sweepRegularly(service.housekeeping, log);
    // Created only after the sockets listen: a token is shown only once, and a failed start would not show it.
    const firstToken = await createFirstToken(service, settings, supervision);
    warnIfExposed(listening, settings, log);
    for (const warning of tlsWarnings(tls, options.now())) log.warning(warning);
    const { localUrl, url } = await urlsOf(listening, service.settings.publicUrl);
    service.exchange.address = url;
    log.event('start', { url, version: io.version, ...(metrics && { metrics: metrics.url }) });
    const notify = notifier(supervision, log);
    const reload = tlsReloader(sockets.servers, settings, options);
    const ready = notify('READY=1');
    return {
      url,
      localUrl,
      loopback: listening.every(({ host }) => host !== undefined && isLoopback(host)),
      firstToken,
      isShared: service.isShared,
      knows: (token) => service.owners.knows(token),
      warn: (message) => log.warning(message),
      reload: async () => {
        await Promise.all([notify('RELOADING=1'), reload()]);
        await notify('READY=1');
      },
      close: lazy(async () => {
        log.event('stopping');
        const notified = notify('STOPPING=1');
        const stopped = sockets.stop().then(stopSweeping);
        await raceWithLimit(stopped, { milliseconds: options.grace }, () => {});
        await closeData();
        await Promise.all([ready, notified]);
        log.event('stopped');
      }),
    };
  } catch (error) {
    await sockets.stop();
    await closeData();
    throw asServiceError(error);
  }
}

async function createFirstToken(
  { owners, log }: OpenService,
  { ephemeral, firstToken, tokenHidden }: ServiceSettings,
  supervision: Supervision | undefined,
): Promise<string | undefined> {
  const hidden = writesToJournal(supervision) ? 'the journal would keep it' : tokenHidden;
  if (hidden === undefined) return firstToken === false ? undefined : owners.addFirst();
  if (!(await owners.isEmpty())) return undefined;
  // `serve token add` cannot reach a database in memory.
  const instead = ephemeral ? '' : '; create one with pwpush serve token add';
  log.warning(`no token was created, as ${hidden}${instead}`);
  return undefined;
}

async function urlsOf(listening: readonly Listening[], publicUrl: string | undefined) {
  const first = listening.find(({ host }) => host !== undefined) ?? listening[0];
  const localUrl = first?.url ?? '';
  return { localUrl, url: publicUrl ?? (await outwardUrl(localUrl, first?.host)) ?? localUrl };
}

function warnIfExposed(
  listening: readonly Listening[],
  { anonymous, tlsCert, trustProxy }: ServiceSettings,
  log: Log,
): void {
  const exposed = listening.find(({ host }) => host !== undefined && !isLoopback(host))?.host;
  if (!exposed || tlsCert || trustProxy) return;
  log.warning(`listening on ${exposed} without TLS: secrets and tokens can be read in transit`);
  if (anonymous)
    log.warning('anybody in the network can create pushes; --no-anonymous requires a token');
}

function listenTargets(
  { host, port }: ServiceSettings,
  supervision: Supervision | undefined,
): ListenTarget[] {
  const passed = passedSockets(supervision);
  return passed.length > 0 ? passed.map((fd) => ({ fd })) : [{ host, port }];
}
