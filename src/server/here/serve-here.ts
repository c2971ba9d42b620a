import type { HereEvent } from '../../here-event';
import { isLoopback } from '../../loopback';
import { openService } from '../compose';
import { connectionLimitOf, GRACE } from '../http/connections';
import { pushBody } from '../http/json-bodies';
import { createSockets } from '../http/sockets';
import { readTls } from '../http/tls';
import { type Listening, outwardUrl } from '../listen';
import { Refusal } from '../refusal';
import type { PushWithNote } from '../rules/pushes';
import { sweepRegularly } from '../rules/sweep';
import { ServiceError } from '../service-error';
import { readingRateOf, type ServiceIo, type ServiceSettings } from '../service-settings';
import { asServiceError } from '../store/database';
import { PushWatch, singlePushApp } from './single-push-app';

export type HereSettings = Pick<ServiceSettings, 'host' | 'port' | 'tlsCert' | 'tlsKey'>;

/** The creation request and the files. */
export interface HerePush {
  readonly push: object;
  readonly files: readonly {
    readonly name: string;
    readonly type: string;
    bytes(): AsyncIterable<Uint8Array>;
  }[];
}

/** A push that is served from the memory of this process. */
export interface ServedPush {
  readonly push: ReturnType<typeof pushBody>;
  /** Whether the secret travels unencrypted over a network. */
  readonly exposed: boolean;
  /** Resolves to the number of views when nothing is left to retrieve. */
  readonly ended: Promise<number>;
  /** Waits up to 30 s for running requests, then discards the push. */
  close(): Promise<void>;
}

/**
 * Serves a single push: no other can be created or listed. It expires after one view by default.
 * @throws ServiceError when the push is invalid, or the service cannot start
 */
export async function serveHere(
  settings: HereSettings,
  io: ServiceIo,
  wanted: HerePush,
  report: (event: HereEvent) => void,
): Promise<ServedPush> {
  const { host, port } = settings;
  const memory = { data: '', ephemeral: true, anonymous: true, trustProxy: false };
  const whole = { ...settings, ...memory, defaultViews: 1 };
  const tls = await readTls(whole);
  const watch = new PushWatch(wanted.files.length, report);
  const service = await openService(whole, io, watch.events);
  const { log } = service;
  let sockets: ReturnType<typeof createSockets> | undefined;
  try {
    const { push } = await createPush(service, wanted);
    watch.allowViews(push.expire_after_views);
    const app = singlePushApp(push.url_token, service.app, watch);
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
      push: pushBody(push, base, io.now()),
      exposed: tls === undefined && !isLoopback(host),
      ended: watch.ended,
      close: async () => {
        await sockets?.stop();
        await stopSweeping();
        watch.stop();
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

async function createPush(
  { pushes }: Awaited<ReturnType<typeof openService>>,
  { push, files }: HerePush,
): Promise<PushWithNote> {
  const nobody = { ip: null, userAgent: null, referrer: null, owner: undefined };
  if (files.length === 0) return pushes.create(push, nobody);
  const upload = pushes.upload();
  try {
    for (const file of files) await upload.add(file, file.bytes());
    return await pushes.create(push, nobody, upload);
  } finally {
    await upload.discard();
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
    hint: 'name one with --host',
  });
}
