import { EventEmitter, once } from 'node:events';
import { getPath } from 'hono/utils/url';
import { isLoopback } from '../contract/address';
import { API_PATH, limits, requestRoutes, routes } from '../contract/api';
import type { HereEvent } from '../contract/here-event';
import { lazy } from '../platform/files/lazy';
import { cleanPath } from './http/clean-path';
import type { App } from './http/env';
import { type ClientSocket, originOf } from './http/request-origin';
import { createSockets, socketOptions } from './http/sockets';
import { openService } from './open-service';
import { type Listening, outwardUrl } from './ops/listen';
import type { PushEvents } from './ops/metrics';
import { LINK_TIME } from './rules/access';
import { sweepRegularly } from './rules/housekeeping';
import { TAKEN } from './rules/once';
import { ServiceError } from './service-errors';
import { memoryShare, type ServiceIo, type ServiceSettings } from './service-settings';
import { asServiceError } from './store/database';

/** The files of one push or answer, and a tenth more for what the database adds to them. */
const MOST_DATA = 1.1 * limits.filesPerPush * limits.bytesPerFile;
/** Milliseconds that a stop waits for those who read the page of a request; a push may be on its way. */
const GRACE_MS = 5000;

export interface HereSettings extends Pick<ServiceSettings, 'host' | 'port'> {
  /** What it serves one of. */
  readonly kind: 'push' | 'request';
  /** How many files the push has. */
  readonly files?: number;
  /** Milliseconds for which it waits for a client that may not have its response. No option of the program sets it: tests do. */
  readonly patience?: number;
}

/** An instance in the memory of this process, for one push or request of its only user. */
export interface HereService {
  /** The address that others reach. */
  readonly base: string;
  /** Whether the secret travels unencrypted over a network. */
  readonly exposed: boolean;
  /** The API token of the user. */
  readonly token: string;
  /** Sends a request of the user, without a socket. */
  send(request: OwnRequest): Promise<OwnResponse>;
  /** Resolves to the number of views, or of answers, when nothing is left to retrieve or to answer. */
  readonly ended: Promise<number>;
  /** Resolves when then everybody has their response, or could have asked for it again for two minutes. */
  readonly settled: Promise<void>;
  /** Waits for running requests, up to 30 s of a push and 5 s of a request, then discards everything. */
  close(): Promise<void>;
}

/** A request as the transport of a client has it. */
interface OwnRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | AsyncIterable<Uint8Array> | undefined;
}

interface OwnResponse {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: AsyncIterable<Uint8Array>;
}

/**
 * Serves one push or request: others can neither create nor list any.
 * @param report receives what happens to it
 * @throws ServiceError when the service cannot start
 */
export async function serveHere(
  settings: HereSettings,
  io: ServiceIo,
  report: (event: HereEvent) => void,
): Promise<HereService> {
  const { host, port, kind } = settings;
  const watch = new Watch(settings, report);
  const maxData = Math.min(memoryShare(io), MOST_DATA);
  const memory = { data: '', ephemeral: true, anonymous: true, trustProxy: false };
  const granted = { defaultViews: 1, maxData, uploadsPerRequest: 1 };
  const service = await openService({ host, port, ...memory, ...granted }, io, watch.events);
  const { app, housekeeping, log, owners } = service;
  const grace = kind === 'push' ? io.grace : (io.grace ?? GRACE_MS);
  const options = socketOptions(service.settings, { ...io, grace }, { log, tls: undefined });
  const sockets = createSockets(doorTo(app, kind, watch), [{ host, port }], options);
  try {
    const { token } = await owners.add('here');
    const [listening] = await sockets.listen();
    const base = await baseFor(listening as Listening, host);
    const stopSweeping = sweepRegularly(housekeeping, log);
    return {
      base,
      exposed: !isLoopback(host),
      token,
      send: (request) => sendInside(app, request),
      ended: watch.ended,
      settled: watch.settled,
      close: lazy(async () => {
        watch.stop();
        await sockets.stop();
        await stopSweeping();
        await service.close();
      }),
    };
  } catch (error) {
    await sockets.stop();
    await service.close();
    throw asServiceError(error);
  }
}

async function baseFor({ url }: Listening, host: string): Promise<string> {
  const outward = await outwardUrl(url, host);
  if (outward !== undefined) return outward;
  throw new ServiceError('this machine has no address that others can reach', {
    hint: 'choose one with --host',
  });
}

async function sendInside(app: App, { method, url, headers, body }: OwnRequest) {
  const isText = typeof body === 'string';
  const request = new Request(url, { method, headers, ...(isText && { body }) });
  const streamed = body === undefined || isText ? {} : { body: () => copies(body) };
  const response = await app(request, { ip: '127.0.0.1', ...streamed });
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: response.body ?? copies([]),
  };
}

/** A chunk of a streamed body is valid until the next one only. */
async function* copies(body: AsyncIterable<Uint8Array> | []): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) yield Uint8Array.from(chunk);
}

/** Of a random token: no listing has its length. */
const TOKEN = '[a-z0-9][\\w-]{17}[a-z0-9]';
const api = ({ path }: { readonly path: string }) => API_PATH + path.replace(':token', TOKEN);

/** Methods and paths that others can use. */
const SERVED = {
  push: [
    `\\w+ /p/${TOKEN}(?:/r|\\.json)?`,
    `\\w+ (?:${api(routes.retrieve)}|${api(routes.preview)}|${api(routes.version)})`,
    '\\w+ /files/.*',
  ],
  request: [
    `(?:GET|HEAD|POST) /r/${TOKEN}`,
    `GET (?:${api(requestRoutes.read)}|${api(requestRoutes.preview)}|${api(routes.version)})`,
    `PATCH ${api(requestRoutes.respond)}`,
  ],
};

/** The app as others reach it, watched. Any other path is 404. */
function doorTo(app: App, kind: HereSettings['kind'], watch: Watch): App {
  const served = new RegExp(`^(?:${SERVED[kind].join('|')})$`);
  return async (request, connection = {}) => {
    const path = getPath(request);
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const link = (isRead && cleanPath(path)) || path;
    if (served.test(`${request.method} ${link}`))
      return watch.serve(app, request, path, connection);
    const nowhere = path.startsWith('/api/') ? '/api/none' : '/none';
    return app(new Request(new URL(nowhere, request.url), { method: 'GET' }), connection);
  };
}

/** A response that is kept for a client which may not have received it. */
interface KeptResponse {
  readonly ip: string | null;
  readonly timer: NodeJS.Timeout;
  isLost: boolean;
}

/**
 * Reports what happens to the one push or request, and notices its end: it was answered, or all views have been taken and
 * with each all files have been downloaded, or their links have expired.
 */
class Watch {
  private readonly moments = new EventEmitter();
  readonly ended: Promise<number> = once(this.moments, 'ended').then(([count]) => count);
  readonly settled = once(this.moments, 'settled').then(() => {});
  private isOver = false;
  private views = 0;
  private isLastTaken = false;
  /** Links to files that views have given and that have not expired. */
  private links = 0;
  private linkTimer: NodeJS.Timeout | undefined;
  private downloads = 0;
  private readonly downloaded = new Set<string>();
  /** By a hash of the key that a response is kept for, until the client has it. */
  private readonly kept = new Map<string, KeptResponse>();
  /** Connections of those who are sending an answer. */
  private readonly sending = new Set<ClientSocket>();

  constructor(
    private readonly settings: HereSettings,
    private readonly report: (event: HereEvent) => void,
  ) {
    this.moments.once('lost', (ip) => report({ event: 'lost', ip }));
  }

  readonly events: Partial<PushEvents> = {
    opened: (ip) => this.report({ event: 'opened', ip }),
    viewed: (_by, ip) => this.viewed(ip),
    wrongPassphrase: (ip) => this.report({ event: 'passphrase', ip }),
    expired: (reason, pushes, ip) => {
      // The view itself is next.
      if (reason === 'views') this.isLastTaken = true;
      else if (pushes > 0) {
        this.report({ event: reason === 'deleted' ? 'deleted' : 'expired', ip });
        this.end(this.views);
      }
    },
    requestChanged: (event, count = 1) => {
      if (event === 'answered') this.end(1);
      if (event === 'expired' && count > 0) this.end(0);
    },
  };

  /** Serves a request of someone else. */
  async serve(app: App, request: Request, path: string, connection: ClientSocket) {
    const { ip } = originOf(request, connection, { trustProxy: false });
    const isGet = request.method === 'GET';
    if (isGet && path.startsWith('/r/') && !cleanPath(path)) this.report({ event: 'opened', ip });
    const keys = new Set<string>();
    const kept = (key: string) => {
      keys.add(key);
      this.keep(key, ip);
    };
    const response = await app(request, { ...this.cuttable(connection), kept });
    const isFile = isGet && path.startsWith('/files/') && [200, 206].includes(response.status);
    if (isFile) this.downloads += 1;
    if (isFile || keys.size > 0)
      connection.received?.((whole) => {
        for (const key of keys) this.received(key, whole);
        if (isFile) this.fetched(path, ip, whole && hasLastByte(response));
      });
    return response;
  }

  stop(): void {
    this.cut();
    clearTimeout(this.linkTimer);
    for (const { timer } of this.kept.values()) clearTimeout(timer);
  }

  private viewed(ip: string | null): void {
    this.views += 1;
    this.links += this.settings.files ?? 0;
    this.report({ event: 'viewed', ip, count: this.views });
    if (this.isLastTaken)
      this.linkTimer = setTimeout(() => {
        this.links = 0;
        this.endIfOver();
      }, LINK_TIME);
    this.endIfOver();
  }

  private fetched(path: string, ip: string | null, whole: boolean): void {
    this.downloads -= 1;
    if (whole) {
      this.report({ event: 'fetched', ip });
      this.downloaded.add(path);
    }
    this.endIfOver();
  }

  private endIfOver(): void {
    const isFetched = this.downloads === 0 && this.downloaded.size >= this.links;
    if (this.isLastTaken && isFetched) this.end(this.views);
  }

  private end(count: number): void {
    this.isOver = true;
    this.moments.emit('ended', count);
    this.cut();
    this.settle();
  }

  private keep(key: string, ip: string | null): void {
    const { patience = TAKEN } = this.settings;
    const timer = this.kept.get(key)?.timer ?? setTimeout(() => this.received(key, true), patience);
    this.kept.set(key, { ip, timer, isLost: false });
  }

  /** @param whole whether the client has the response, or has had time to ask for it again */
  private received(key: string, whole: boolean): void {
    const kept = this.kept.get(key);
    if (!kept) return;
    kept.isLost = !whole;
    if (whole) {
      clearTimeout(kept.timer);
      this.kept.delete(key);
    }
    this.settle();
  }

  private settle(): void {
    if (!this.isOver) return;
    if (this.kept.size === 0) this.moments.emit('settled');
    const lost = [...this.kept.values()].find(({ isLost }) => isLost);
    if (lost) this.moments.emit('lost', lost.ip);
  }

  /** What others still send after an answer is stored for nobody. */
  private cut(): void {
    for (const connection of this.sending) connection.cut?.();
  }

  /** A connection that `cut` reaches while the body of an answer is read. */
  private cuttable(connection: ClientSocket): ClientSocket {
    const { sending } = this;
    const { body } = connection;
    if (!body || this.settings.kind === 'push') return connection;
    const cutIfSettled = () => void (this.isOver && this.kept.size === 0 && this.cut());
    return {
      ...connection,
      body: async function* () {
        sending.add(connection);
        // A repetition is read as long as one may come.
        cutIfSettled();
        try {
          yield* body();
        } finally {
          sending.delete(connection);
        }
      },
    };
  }
}

/** Whether a response ends with the last byte of its file, whatever range was requested. */
function hasLastByte({ headers }: Response): boolean {
  const range = headers.get('content-range');
  if (range === null) return true;
  const [, last, size] = /-(\d+)\/(\d+)$/.exec(range) ?? [];
  return Number(last) + 1 === Number(size);
}
