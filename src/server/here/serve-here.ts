import type { HereEvent } from '../../here-event';
import { isLoopback } from '../../loopback';
import { openService } from '../compose';
import { connectionLimitOf } from '../http/connections';
import { GRACE } from '../http/graceful-stop';
import { pushBody } from '../http/json-bodies';
import { createSockets } from '../http/sockets';
import { readTls } from '../http/tls';
import { type Listening, outwardUrl } from '../listen';
import { Refusal } from '../refusal';
import type { PushWithNote } from '../rules/pushes';
import { sweepRegularly } from '../rules/sweep';
import { ServiceError } from '../service-error';
import { readingRateOf, type ServiceIo, type ServiceSettings } from '../service-settings';
import { inWords } from '../store/database';
import { PushWatch, singlePushApp } from './single-push-app';

export type HereSettings = Pick<ServiceSettings, 'host' | 'port' | 'tlsCert' | 'tlsKey'>;

/** The creation request, and files as they are read. */
export interface HerePush {
  readonly push: object;
  readonly files: readonly {
    readonly name: string;
    readonly type: string;
    bytes(): AsyncIterable<Uint8Array>;
  }[];
}

/** One push that is served from this machine's memory. */
export interface Here {
  readonly push: ReturnType<typeof pushBody>;
  /** Whether others can read on the way what is fetched. */
  readonly exposed: boolean;
  /** Resolves to how often it was seen, once there is no more to be had from it. */
  readonly ended: Promise<number>;
  /** Lets what runs end, 30 s at most, and forgets the push. */
  close(): Promise<void>;
}

/**
 * Serves one push and nothing else: nobody can create another, nor list any. It takes one view unless more are
 * asked for. Throws a `ServiceError` that says what has to be changed.
 */
export async function serveHere(
  settings: HereSettings,
  io: ServiceIo,
  wanted: HerePush,
  report: (event: HereEvent) => void,
): Promise<Here> {
  const { host, port } = settings;
  const memory = { data: '', ephemeral: true, anonymous: true, trustProxy: false };
  const whole = { ...settings, ...memory, defaultViews: 1 };
  const tls = await readTls(whole);
  const watch = new PushWatch(wanted.files.length, report);
  const service = await openService(whole, io, watch.events);
  const { log } = service;
  let sockets: ReturnType<typeof createSockets> | undefined;
  try {
    const { push } = await created(service, wanted);
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
    throw error instanceof Refusal && error.kind !== 'away' ? refused(error) : inWords(error);
  }
}

async function created(
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

/** What the service says of values that it does not take is for whoever asked for them. */
function refused({ fields, message }: Refusal): ServiceError {
  const words = Object.values(fields).flat();
  const said = words.length === 0 ? message : words.join(' ');
  return new ServiceError(said.replace(/\.$/, ''), { input: true });
}

async function baseFor({ url }: Listening, host: string): Promise<string> {
  const outward = await outwardUrl(url, host);
  if (outward !== undefined) return outward;
  throw new ServiceError('this machine has no address that others reach', {
    hint: 'name one with --host',
  });
}
