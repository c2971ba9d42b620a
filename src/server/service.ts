import { isLoopback } from '../loopback';
import { openService } from './compose';
import { connectionLimitOf } from './http/connections';
import { GRACE } from './http/graceful-stop';
import { createSockets } from './http/sockets';
import type { Timeouts } from './http/timeouts';
import { readTls, tlsReloader } from './http/tls';
import { type Listening, type ListenTarget, outwardUrl } from './listen';
import type { Log } from './ops/log';
import { startMetrics } from './ops/metrics/metrics-start';
import { notifier, passedSockets, writesToJournal } from './ops/systemd';
import { sweepRegularly } from './rules/sweep';
import {
  publicUrlOf,
  readingRateOf,
  type ServiceIo,
  type ServiceSettings,
} from './service-settings';
import { inWords } from './store/database';

export { openOwners } from './compose';
export { serveHere } from './here/serve-here';
export { keyFileOf } from './keys/key-file';
export { prepareRekey, rekey } from './keys/rotation';
export { backup } from './ops/database-copy';
export type { OwnerSummary } from './rules/owners';
export { ServiceError } from './service-error';
export type { ServiceIo, ServiceSettings } from './service-settings';

/** A service that listens. */
export interface Service {
  /**
   * The public address, or else the one it listens on: of all addresses one that others reach, and where there is none
   * the one of this machine.
   */
  readonly url: string;
  /** The address it listens on, as this machine reaches it. */
  readonly localUrl: string;
  /** Whether this machine alone reaches it, by an address. */
  readonly loopback: boolean;
  /** The token of `admin`, only when this start created it. */
  readonly firstToken?: string;
  /** Has the log warn. */
  warn(message: string): void;
  /** Reads certificate and key again; connections that are open stay as they are. */
  reload(): Promise<void>;
  /** No new connections; running requests finish, 30 s at most; then the database is closed. */
  close(): Promise<void>;
}

/** Opens the data and listens. Throws a `ServiceError` that says what the operator has to change. */
export async function startService(
  settings: ServiceSettings,
  io: ServiceIo,
  timeouts: Partial<Timeouts> = {},
): Promise<Service> {
  const tls = await readTls(settings);
  const targets = listenTargets(settings, io);
  const service = await openService(settings, io);
  const { log } = service;
  const { now, grace = GRACE, supervision } = io;
  const connections = connectionLimitOf(settings);
  // Behind a proxy, or with a public address, requests name another host.
  const ownHost = settings.publicUrl || settings.trustProxy ? undefined : settings.host;
  const options = {
    tls,
    log,
    now,
    timeouts: { read: readingRateOf(settings), ...timeouts },
    connections,
    grace,
    ownHost,
  };
  const sockets = createSockets(service.app, targets, options);
  let metrics: Awaited<ReturnType<typeof startMetrics>>;
  try {
    const listening = await sockets.listen();
    metrics = await startMetrics(service, sockets.servers, settings, io);
    const stopSweeping = sweepRegularly(service.pushes, log);
    // Only now: a start that failed must not have used up the one time the token is shown.
    const journal = supervision !== undefined && writesToJournal(supervision);
    const firstToken = journal ? undefined : await service.owners.addFirst();
    if (journal && (await service.owners.list()).length === 0) {
      log.warning('no token was made, as the journal would keep it: see pwpush serve token add');
    }
    warnIfExposed(listening, settings, log);
    const named = listening.find(({ host }) => host !== undefined) ?? listening[0];
    const localUrl = named?.url ?? '';
    const url = publicUrlOf(settings) ?? (await outwardUrl(localUrl, named?.host)) ?? localUrl;
    const scraped = metrics ? { metrics: metrics.url } : {};
    log.event('start', { url, version: io.version, ...scraped });
    const tell = supervision ? notifier(supervision, log) : async () => {};
    const reload = tlsReloader(sockets.servers, settings, log);
    void tell('READY=1');
    return {
      url,
      localUrl,
      loopback: listening.every(({ host }) => host !== undefined && isLoopback(host)),
      ...(firstToken === undefined ? {} : { firstToken }),
      warn: (message) => log.warning(message),
      reload: async () => {
        void tell('RELOADING=1');
        await reload();
        await tell('READY=1');
      },
      close: once(async () => {
        log.event('stopping');
        const told = tell('STOPPING=1');
        await inTime(grace, async () => {
          await sockets.stop();
          await stopSweeping();
        });
        metrics?.close();
        await service.close();
        await told;
        log.event('stopped');
      }),
    };
  } catch (error) {
    metrics?.close();
    await sockets.stop();
    await service.close();
    throw inWords(error);
  }
}

function warnIfExposed(
  listening: readonly Listening[],
  { tlsCert, trustProxy }: ServiceSettings,
  log: Log,
): void {
  const exposed = listening.find(({ host }) => host !== undefined && !isLoopback(host))?.host;
  if (!exposed || tlsCert || trustProxy) return;
  log.warning(`listening on ${exposed} without TLS: secrets and tokens can be read on the way`);
}

/** The sockets that systemd passed; where there are none, the address in the settings. */
function listenTargets(
  { host, port }: ServiceSettings,
  { supervision }: ServiceIo,
): ListenTarget[] {
  const passed = supervision ? passedSockets(supervision) : [];
  return passed.length > 0 ? passed.map((fd) => ({ fd })) : [{ host, port }];
}

/** Ends with `work`, or without it when the time is up; milliseconds. */
async function inTime(limit: number, work: () => Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const up = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limit);
  });
  await Promise.race([work(), up]).finally(() => clearTimeout(timer));
}

/** The same promise however often it is asked for. */
function once(work: () => Promise<void>): () => Promise<void> {
  let result: Promise<void> | undefined;
  return () => (result ??= work());
}
