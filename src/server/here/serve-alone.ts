import { getPath } from 'hono/utils/url';
import { isLoopback } from '../../contract/address';
import { limits } from '../../contract/api';
import { lazy } from '../../platform/files/lazy';
import type { App } from '../http/parts';
import { createSockets, readTls, socketOptions } from '../http/sockets';
import { type OpenService, openService } from '../open-service';
import { type Listening, outwardUrl } from '../ops/listen';
import type { PushEvents } from '../ops/metrics';
import { sweepRegularly } from '../rules/housekeeping';
import { Refusal, ServiceError } from '../service-errors';
import { FILE_BYTES, memoryShare, type ServiceIo, type ServiceSettings } from '../service-settings';
import { asServiceError } from '../store/database';

/** The files of one push or answer, and a tenth more for what the database adds to them. */
const MOST_DATA = 1.1 * limits.filesPerPush * FILE_BYTES;

export type HereSettings = Pick<ServiceSettings, 'host' | 'port' | 'tlsCert' | 'tlsKey'>;

/** A service that has one push or request, in the memory of this process. */
export interface ServedAlone<Begun> {
  readonly begun: Begun;
  /** The address that others reach. */
  readonly base: string;
  /** Whether the secret travels unencrypted over a network. */
  readonly exposed: boolean;
  /** Accepts no new connections, and waits for running requests. */
  stop(): Promise<void>;
  /** The same, and discards everything. */
  close(stopped?: () => void): Promise<void>;
}

export interface Begin<Begun> {
  readonly begun: Begun;
  readonly app: App;
  serves(path: string, method: string): boolean;
}

/**
 * Serves what `begin` creates, by the app that it returns; no other path is served.
 * @throws ServiceError when that is invalid, or the service cannot start
 */
export async function serveAlone<Begun>(
  settings: HereSettings,
  io: ServiceIo,
  events: Partial<PushEvents>,
  begin: (service: OpenService) => Promise<Begin<Begun>>,
): Promise<ServedAlone<Begun>> {
  const { host, port } = settings;
  const memory = { data: '', ephemeral: true, anonymous: true, trustProxy: false };
  const maxData = Math.min(memoryShare(io), MOST_DATA);
  const whole = { ...settings, ...memory, defaultViews: 1, maxData, uploadsPerRequest: 1 };
  const tls = await readTls(whole);
  const service = await openService(whole, io, events);
  const { log } = service;
  let sockets: ReturnType<typeof createSockets> | undefined;
  try {
    const { begun, app, serves } = await begin(service);
    const options = socketOptions(whole, io, { log, tls });
    sockets = createSockets(restricted(app, serves), [{ host, port }], options);
    const [listening] = await sockets.listen();
    const base = await baseFor(listening as Listening, host);
    const stopSweeping = sweepRegularly(service.housekeeping, log);
    const stop = lazy(sockets.stop);
    return {
      begun,
      base,
      exposed: tls === undefined && !isLoopback(host),
      stop,
      close: async (stopped = () => {}) => {
        await stop();
        await stopSweeping();
        stopped();
        await service.close();
      },
    };
  } catch (error) {
    await sockets?.stop();
    await service.close();
    if (!(error instanceof Refusal) || error.kind === 'away') throw asServiceError(error);
    throw error.kind === 'full'
      ? new ServiceError('there is not enough memory for it', { cause: error })
      : inputError(error);
  }
}

/** Any other path is 404. */
function restricted(app: App, serves: Begin<unknown>['serves']): App {
  return async (request, connection) => {
    const path = getPath(request);
    if (serves(path, request.method)) return app(request, connection);
    const nowhere = path.startsWith('/api/') ? '/api/none' : '/none';
    return app(new Request(new URL(nowhere, request.url), { method: 'GET' }), connection);
  };
}

/** A refusal as an error of the caller's input. */
function inputError({ fields, message }: Refusal): ServiceError {
  const words = Object.values(fields).flat();
  const text = words.length === 0 ? message : words.join(' ');
  return new ServiceError(text.replace(/\.$/, ''), { input: true });
}

async function baseFor({ url }: Listening, host: string): Promise<string> {
  const outward = await outwardUrl(url, host);
  if (outward !== undefined) return outward;
  throw new ServiceError('this machine has no address that others can reach', {
    hint: 'choose one with --host',
  });
}
