import { bePatient, type Patience } from './exchange';
import { inWords, openService } from './open';
import { publicUrlOf, type ServiceIo, type ServiceSettings } from './settings';
import { createServer, listen, reachable } from './socket';
import { GRACE, stopper } from './stop';
import { sweepRegularly } from './sweep';
import { readTls, tlsReloader } from './tls';

export { openOwners } from './open';
export type { OwnerSummary } from './owners';
export { ServiceError } from './service-error';
export type { ServiceIo, ServiceSettings } from './settings';

/** A service that listens. */
export interface Service {
  /** What links begin with: the public address, or else the one it listens on. */
  readonly url: string;
  /** The address it listens on, as this machine reaches it. */
  readonly localUrl: string;
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
  patience?: Patience,
): Promise<Service> {
  const tls = await readTls(settings);
  const service = await openService(settings, io);
  const { log } = service;
  const { grace = GRACE } = io;
  const running = new Set<Promise<unknown>>();
  let stop: (() => Promise<void>) | undefined;
  try {
    const server = createServer(service.app, running, tls, { log, now: io.now });
    bePatient(server, patience);
    stop = stopper(server, tls !== undefined, grace);
    const port = await listen(server, settings.host, settings.port);
    const localUrl = `http${tls ? 's' : ''}://${reachable(settings.host)}:${port}`;
    const stopSweeping = sweepRegularly(service.pushes, log);
    // Only now: a start that failed must not have used up the one time the token is shown.
    const firstToken = await service.owners.addFirst();
    const exposed = exposure(settings);
    if (exposed !== undefined) log.warning(exposed);
    const url = publicUrlOf(settings) ?? localUrl;
    log.event('start', { url, version: io.version });
    return {
      url,
      localUrl,
      ...(firstToken === undefined ? {} : { firstToken }),
      warn: (message) => log.warning(message),
      reload: tlsReloader([server], settings, log),
      close: once(async () => {
        log.event('stopping');
        await inTime(grace, async () => {
          await stop?.();
          await stopSweeping();
          // A request goes on for a moment when its client has left.
          await Promise.allSettled(running);
        });
        await service.close();
        log.event('stopped');
      }),
    };
  } catch (error) {
    await stop?.();
    await service.close();
    throw inWords(error);
  }
}

/** What to say of listening where others can listen in. */
function exposure({ host, tlsCert, trustProxy }: ServiceSettings): string | undefined {
  if (tlsCert || trustProxy || /^(?:localhost|127\..*|::1)$/i.test(host)) return undefined;
  return `listening on ${host} without TLS: secrets and tokens can be read on the way`;
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
