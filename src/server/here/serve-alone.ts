import { isLoopback } from '../../loopback';
import { type OpenService, openService } from '../compose';
import { connectionLimitOf, GRACE } from '../http/connections';
import type { App } from '../http/parts';
import { createSockets, readTls } from '../http/sockets';
import { type Listening, outwardUrl } from '../listen';
import type { PushEvents } from '../ops/metrics';
import { sweepRegularly } from '../rules/housekeeping';
import { Refusal, ServiceError } from '../service-errors';
import { readingRateOf, type ServiceIo, type ServiceSettings } from '../service-settings';
import { asServiceError } from '../store/database';

export type HereSettings = Pick<ServiceSettings, 'host' | 'port' | 'tlsCert' | 'tlsKey'>;

/** A service that has one push or request, in the memory of this process. */
export interface ServedAlone<Begun> {
  readonly begun: Begun;
  /** The address that others reach. */
  readonly base: string;
  /** Whether the secret travels unencrypted over a network. */
  readonly exposed: boolean;
  /** Waits up to 30 s for running requests, then discards everything. */
  close(stopped?: () => void): Promise<void>;
}

/**
 * Serves what `begin` creates, by the app that it returns.
 * @throws ServiceError when that is invalid, or the service cannot start
 */
export async function serveAlone<Begun>(
  settings: HereSettings,
  io: ServiceIo,
  events: PushEvents,
  begin: (service: OpenService) => Promise<{ readonly begun: Begun; readonly app: App }>,
): Promise<ServedAlone<Begun>> {
  const { host, port } = settings;
  const memory = { data: '', ephemeral: true, anonymous: true, trustProxy: false };
  const whole = { ...settings, ...memory, defaultViews: 1 };
  const tls = await readTls(whole);
  const service = await openService(whole, io, events);
  const { log } = service;
  let sockets: ReturnType<typeof createSockets> | undefined;
  try {
    const { begun, app } = await begin(service);
    const connections = connectionLimitOf(whole);
    const options = {
      tls,
      log,
      now: io.now,
      timeouts: { read: readingRateOf(whole) },
      connections,
      grace: GRACE,
      ownHost: host,
    };
    sockets = createSockets(app, [{ host, port }], options);
    const [listening] = await sockets.listen();
    const base = await baseFor(listening as Listening, host);
    const stopSweeping = sweepRegularly(service.pushes, log);
    return {
      begun,
      base,
      exposed: tls === undefined && !isLoopback(host),
      close: async (stopped = () => {}) => {
        await sockets?.stop();
        await stopSweeping();
        stopped();
        await service.close();
      },
    };
  } catch (error) {
    await sockets?.stop();
    await service.close();
    throw error instanceof Refusal && error.kind !== 'away'
      ? inputError(error)
      : asServiceError(error);
  }
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
