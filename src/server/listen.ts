import { readFile } from 'node:fs/promises';
import { createServer as createHttpServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import type { App } from './app';
import { bePatient, connectionOf, type Patience } from './exchange';
import { inWords, type OpenService, openService } from './open';
import { ServiceError, systemCode } from './service-error';
import { publicUrlOf, type ServiceIo, type ServiceSettings } from './settings';
import { GRACE, stopper } from './stop';
import { answerUnserved } from './unserved';

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
  /** No new connections; running requests finish, 30 s at most; then the database is closed. */
  close(): Promise<void>;
}

const SWEEP_EVERY = 60_000;

/** Opens the data and listens. Throws a `ServiceError` that says what the operator has to change. */
export async function startService(
  settings: ServiceSettings,
  io: ServiceIo,
  patience?: Patience,
): Promise<Service> {
  const tls = await readTls(settings);
  const service = await openService(settings, io);
  const { grace = GRACE } = io;
  const running = new Set<Promise<unknown>>();
  let stop: (() => Promise<void>) | undefined;
  try {
    const server = createServer(track(service.app, running), tls, io);
    bePatient(server, patience);
    stop = stopper(server, tls !== undefined, grace);
    const localUrl = await listen(server, settings, tls !== undefined);
    const stopSweeping = sweepRegularly(service, io);
    // Only now: a start that failed must not have used up the one time the token is shown.
    const firstToken = await service.owners.addFirst();
    warnIfExposed(settings, io);
    return {
      url: publicUrlOf(settings) ?? localUrl,
      localUrl,
      ...(firstToken === undefined ? {} : { firstToken }),
      close: once(async () => {
        await inTime(grace, async () => {
          await stop?.();
          await stopSweeping();
          // A request goes on for a moment when its client has left.
          await Promise.allSettled(running);
        });
        await service.close();
      }),
    };
  } catch (error) {
    await stop?.();
    await service.close();
    throw inWords(error);
  }
}

interface Tls {
  readonly cert: Buffer;
  readonly key: Buffer;
}

async function readTls({ tlsCert, tlsKey }: ServiceSettings): Promise<Tls | undefined> {
  if (!tlsCert && !tlsKey) return undefined;
  if (!tlsCert || !tlsKey)
    throw new ServiceError('TLS needs both a certificate and its key', { input: true });
  const read = (path: string) =>
    readFile(path).catch((cause: unknown) => {
      throw new ServiceError(`${path} cannot be read (${systemCode(cause)})`, { cause });
    });
  return { cert: await read(tlsCert), key: await read(tlsKey) };
}

/** The app as the socket calls it, each call noted while it runs. */
function track(app: App, running: Set<Promise<unknown>>) {
  return (request: Request, { incoming, outgoing }: HttpBindings) => {
    const response = app(request, connectionOf(incoming, outgoing));
    running.add(response);
    const done = () => running.delete(response);
    response.then(done, done);
    return response;
  };
}

const options = {
  // One without a host is answered by us.
  requireHostHeader: false,
  headersTimeout: 20_000,
};

function createServer(
  fetch: ReturnType<typeof track>,
  tls: Tls | undefined,
  io: ServiceIo,
): Server {
  const server = tls ? createTlsServer(tls) : createHttpServer(options);
  const unserved = answerUnserved(server, io);
  const listener = getRequestListener((request, env) => fetch(request, env as HttpBindings), {
    overrideGlobalObjects: false,
    errorHandler: unserved,
    // It would read on for half a second only.
    autoCleanupIncoming: false,
  });
  server.on('request', nameHost);
  server.on('request', listener);
  return server;
}

function createTlsServer(tls: Tls): Server {
  try {
    return createHttpsServer({ ...options, ...tls, handshakeTimeout: 10_000 });
  } catch (cause) {
    throw new ServiceError('the TLS certificate and key do not fit', {
      hint: 'both are PEM files',
      cause,
    });
  }
}

/** HTTP/1.0, as health checks still speak it, names no host: it is the address that was reached. */
function nameHost({ headers, httpVersion, socket }: IncomingMessage): void {
  const { localAddress = '', localPort } = socket;
  if (httpVersion !== '1.0' || headers.host !== undefined) return;
  const address = localAddress.replace(/^::ffff:(?=[\d.]+$)/i, '');
  headers.host = `${reachable(address)}:${localPort}`;
}

function listen(server: Server, { host, port }: ServiceSettings, secure: boolean): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, host, port)));
    server.listen({ host, port }, () => {
      const address = server.address() as AddressInfo;
      resolve(`http${secure ? 's' : ''}://${reachable(host)}:${address.port}`);
    });
  });
}

function listenError(cause: Error, host: string, port: number): ServiceError {
  const code = systemCode(cause);
  const where = `${host} port ${port}`;
  if (code === 'EADDRINUSE') {
    return new ServiceError(`${where} is in use`, { hint: 'choose another with --port', cause });
  }
  return new ServiceError(`cannot listen on ${where}${code && ` (${code})`}`, { cause });
}

/** The host in an address; "any address" is reached by the loopback's. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}

function sweepRegularly({ pushes }: OpenService, { warn }: ServiceIo): () => Promise<void> {
  const sweep = () =>
    pushes
      .sweep()
      .catch((error: Error) => warn(`expired pushes could not be swept: ${error.name}`));
  let last = sweep();
  const timer = setInterval(() => {
    last = sweep();
  }, SWEEP_EVERY);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await last;
  };
}

function warnIfExposed({ host, tlsCert, trustProxy }: ServiceSettings, { warn }: ServiceIo): void {
  if (tlsCert || trustProxy || /^(?:localhost|127\..*|::1)$/i.test(host)) return;
  warn(`listening on ${host} without TLS: secrets and tokens can be read on the way`);
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
