import { AsyncLocalStorage } from 'node:async_hooks';
import { getPath } from 'hono/utils/url';
import { API_PATH, routes } from '../api/contract';
import type { App } from './app';
import { isPrefetch, originOf } from './caller';
import { LINK_TIME } from './claim';
import { inWords } from './database';
import { noticeEnd } from './notice-end';
import { openService } from './open';
import { outwardAddress } from './outward';
import type { Noted } from './pushes';
import { Refusal } from './refusal';
import { ServiceError } from './service-error';
import type { ServiceIo, ServiceSettings } from './settings';
import type { Listening } from './socket';
import { createSockets } from './sockets';
import { GRACE } from './stop';
import { sweepRegularly } from './sweep';
import type { Tally } from './tally';
import { readTls } from './tls';
import { pushBody } from './wire';

export type HereSettings = Pick<ServiceSettings, 'host' | 'port' | 'tlsCert' | 'tlsKey'>;

/** Something that happened to the push, and the address it came from. */
export interface HereEvent {
  readonly event: 'opened' | 'viewed' | 'passphrase' | 'fetched' | 'deleted' | 'expired';
  readonly ip: string | null;
  /** How many views, or files, that makes. */
  readonly count?: number;
}

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

interface Visit {
  readonly ip: string | null;
  viewed: boolean;
}

/**
 * Serves one push and nothing else: nobody can create another, nor list any. It takes one view unless more are
 * asked for. Throws a `ServiceError` that says what has to be changed.
 */
export async function serveHere(
  settings: HereSettings,
  io: ServiceIo,
  wanted: HerePush,
  tell: (event: HereEvent) => void,
): Promise<Here> {
  const { host, port } = settings;
  const memory = { data: '', ephemeral: true, anonymous: true, trustProxy: false };
  const whole = { ...settings, ...memory, defaultViews: 1 };
  const tls = await readTls(whole);
  const visits = new AsyncLocalStorage<Visit>();
  const watch = watching(visits, wanted.files.length, tell);
  const service = await openService(whole, { ...io, tally: watch.tally });
  const { log } = service;
  let sockets: ReturnType<typeof createSockets> | undefined;
  try {
    const { push } = await created(service, wanted);
    watch.expect(push.expire_after_views);
    const app = onlyThat(push.url_token, service.app, visits, watch);
    const options = { tls, log, now: io.now, patience: undefined, grace: GRACE };
    sockets = createSockets(app, [{ host, port }], options);
    const [listening] = await sockets.listen();
    const base = await baseFor(listening as Listening, host);
    const stopSweeping = sweepRegularly(service.pushes, log);
    return {
      push: pushBody(push, base, io.now()),
      exposed: tls === undefined && !/^(?:localhost$|127\.|::1$)/.test(host),
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
): Promise<Noted> {
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
  if (host !== '0.0.0.0' && host !== '::') return url;
  const address = await outwardAddress(host);
  if (address === undefined)
    throw new ServiceError('this machine has no address that others reach', {
      hint: 'name one with --host',
    });
  const { protocol, port } = new URL(url);
  return `${protocol}//${address.includes(':') ? `[${address}]` : address}:${port}`;
}

type Watch = ReturnType<typeof watching>;

/** The service, of which nothing is to be had but that push. */
function onlyThat(urlToken: string, app: App, visits: AsyncLocalStorage<Visit>, watch: Watch): App {
  const page = `/p/${urlToken}`;
  const api = (route: keyof typeof routes) =>
    API_PATH + routes[route].path.replace(':token', urlToken);
  const pages = [page, `${page}/r`];
  const served = [...pages, `${page}.json`, api('retrieve'), api('preview'), api('version')];
  return async (request, connection = {}) => {
    const path = getPath(request);
    const isFile = path.startsWith('/files/');
    if (!served.includes(path) && !isFile) {
      const nowhere = path.startsWith('/api/') ? '/api/none' : '/none';
      return app(new Request(new URL(nowhere, request.url), { method: 'GET' }), connection);
    }
    const { ip } = originOf(request, connection, { trustProxy: false });
    const visit = { ip, viewed: false };
    const began = watch.views();
    const response = await visits.run(visit, () => app(request, connection));
    const shown = request.method === 'GET' && response.status === 200 && !isPrefetch(request);
    if (shown && pages.includes(path) && !visit.viewed) watch.opened(ip);
    if (!isFile || request.method !== 'GET') return response;
    return noticeEnd(response, () => watch.fetched(path, ip, began));
  };
}

/** Tells what happens, and when there is no more to be had: all views taken, and with the last one all files. */
function watching(
  visits: AsyncLocalStorage<Visit>,
  files: number,
  tell: (event: HereEvent) => void,
) {
  let views = 0;
  let allowed = Number.POSITIVE_INFINITY;
  const fetched = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let end = (_: number) => {};
  const ended = new Promise<number>((resolve) => {
    end = resolve;
  });
  const ip = () => visits.getStore()?.ip ?? null;
  const tally: Tally = {
    created: () => {},
    missed: () => {},
    fileBytes: () => {},
    viewed: () => {
      const visit = visits.getStore();
      if (visit) visit.viewed = true;
      views += 1;
      tell({ event: 'viewed', ip: ip(), count: views });
      if (views < allowed) return;
      if (files === 0) return end(views);
      timer = setTimeout(() => end(views), LINK_TIME);
    },
    wrongPassphrase: () => tell({ event: 'passphrase', ip: ip() }),
    expired: (reason, pushes = 1) => {
      if (reason === 'views' || pushes === 0) return;
      tell({ event: reason === 'deleted' ? 'deleted' : 'expired', ip: ip() });
      end(views);
    },
  };
  return {
    tally,
    ended,
    views: () => views,
    expect: (granted: number) => {
      allowed = granted;
    },
    opened: (from: string | null) => tell({ event: 'opened', ip: from }),
    /** A file whose download began when there had been so many views. */
    fetched: (path: string, from: string | null, began: number) => {
      if (fetched.has(path)) return;
      if (began === views) fetched.add(path);
      tell({ event: 'fetched', ip: from });
      if (views >= allowed && fetched.size >= files) end(views);
    },
    stop: () => clearTimeout(timer),
  };
}
