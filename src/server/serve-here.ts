import { EventEmitter, once } from 'node:events';
import { getPath } from 'hono/utils/url';
import { isLoopback } from '../contract/address';
import { API_PATH, limits, requestRoutes, routes } from '../contract/api';
import type { HereEvent } from '../contract/here-event';
import { lazy } from '../contract/lazy';
import { cleanPath } from './http/clean-path';
import type { App } from './http/env';
import type { ClientSocket } from './http/request-origin';
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
import { plainIp } from './trusted-proxies';

/** Bytes of the files of one push or answer, and a tenth more for what the database adds to them. */
const MOST_DATA = 1.1 * limits.filesPerPush * limits.bytesPerFile;
/** The command refuses larger files than `limits` allows; encryption adds up to a MiB. */
const MOST_ENCRYPTED = limits.bytesPerFile + 1024 ** 2;
/** Milliseconds that `close` waits with the kind `request`. A push gets 30 s, as a download may be running. */
const GRACE_MS = 5000;

export interface HereSettings extends Pick<ServiceSettings, 'host' | 'port'> {
  readonly kind: 'push' | 'request';
  /** How many files the push has. */
  readonly files?: number;
  /** Milliseconds to wait for a client that may not have its response; by default `TAKEN`. Only tests set it. */
  readonly patience?: number;
}

/** An instance in the memory of this process, for one push or request of its only user. */
export interface HereService {
  /** The base URL that other machines reach. */
  readonly base: string;
  /** Whether the secret travels unencrypted over a network. */
  readonly exposed: boolean;
  /** The API token of the user. */
  readonly token: string;
  /** Sends an HTTP request of the user to the service, without a socket. */
  send(request: OwnRequest): Promise<OwnResponse>;
  /** Resolves to the number of views, or of answers, when nothing is left to retrieve or to answer. */
  readonly ended: Promise<number>;
  /** Resolves after `ended`, once every client has its response or two minutes to repeat the request are over. */
  readonly settled: Promise<void>;
  /** Waits for running HTTP requests, up to 30 s for a push and 5 s for a request, and discards all data. */
  close(): Promise<void>;
}

/** An HTTP request as the transport of a client passes it. */
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
 * Serves one push or request: clients other than the user can neither create nor list any.
 * @param report receives what happens to the push or request
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
  const granted = { defaultViews: 1, maxData, uploadsPerRequest: 1, maxFileSize: MOST_ENCRYPTED };
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

/** Copies each chunk of a streamed body, as it is valid only until the next one is read. */
async function* copies(body: AsyncIterable<Uint8Array> | []): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) yield Uint8Array.from(chunk);
}

/** Pattern of a token. Its 19 characters are more than the name of any listing has. */
const TOKEN = '[a-z0-9][\\w-]{17}[a-z0-9]';
const api = ({ path }: { readonly path: string }) => API_PATH + path.replace(':token', TOKEN);

/** Patterns of the methods and paths that clients other than the user can request. */
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

/** Returns the app that other clients reach: `watch` observes the paths in `SERVED`, and any other path gets 404. */
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
 * Reports what happens to the push or request, and detects its end. A request ends when it is answered; a push ends
 * after its last view, when all files of every view have been downloaded or their links have expired.
 */
class Watch {
  private readonly moments = new EventEmitter();
  readonly ended: Promise<number> = once(this.moments, 'ended').then(([count]) => count);
  readonly settled = once(this.moments, 'settled').then(() => {});
  private isOver = false;
  private views = 0;
  private isLastTaken = false;
  /** Number of links to files that views have given and that have not expired. */
  private links = 0;
  private linkTimer: NodeJS.Timeout | undefined;
  private downloads = 0;
  /** The parts of files that have arrived, by the paths of their links. */
  private readonly arrived = new Map<string, FilePart[]>();
  private readonly downloaded = new Set<string>();
  /** Kept responses by a hash of their idempotency key, until the client has received them. */
  private readonly kept = new Map<string, KeptResponse>();
  /** Connections whose clients are sending an answer to the request. */
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
      // The `viewed` event of this view follows.
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

  /** Serves an HTTP request of a client other than the user. */
  async serve(app: App, request: Request, path: string, connection: ClientSocket) {
    const ip = plainIp(connection.ip) ?? null;
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
      await connection.received?.((whole) => {
        for (const key of keys) this.received(key, whole);
        if (isFile) this.fetched(path, ip, whole ? partOf(request, response) : undefined);
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

  /** @param part what the client has received; undefined if it may lack some of it */
  private fetched(path: string, ip: string | null, part: FilePart | undefined): void {
    this.downloads -= 1;
    if (part) {
      const parts = joined(this.arrived.get(path) ?? [], part);
      const isWhole = parts[0]?.first === 0 && parts[0].end === part.size;
      this.arrived.set(path, isWhole ? [] : parts);
      if (isWhole) {
        this.report({ event: 'fetched', ip });
        this.downloaded.add(path);
      }
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

  /** Closes connections that still send an answer to the request, which nobody would read. */
  private cut(): void {
    for (const connection of this.sending) connection.cut?.();
  }

  /** Returns a connection that `cut` can close while the body of an answer is read. */
  private cuttable(connection: ClientSocket): ClientSocket {
    const { sending } = this;
    const { body } = connection;
    if (!body || this.settings.kind === 'push') return connection;
    const cutIfSettled = () => {
      if (this.isOver && this.kept.size === 0) this.cut();
    };
    return {
      ...connection,
      body: async function* () {
        sending.add(connection);
        // A repeated HTTP request is still read while a response is kept for a client.
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

/** Bytes of a file from `first` up to, not including, `end`. */
interface FilePart {
  readonly first: number;
  readonly end: number;
  readonly size: number;
}

/** Returns the part of a file that a client has once it has the response. */
function partOf(request: Request, { headers }: Response): FilePart {
  const range = /(\d+)-(\d+)\/(\d+)$/.exec(headers.get('content-range') ?? '');
  const [first = 0, last = 0, size = 0] = range?.slice(1).map(Number) ?? [];
  const length = Number(headers.get('content-length'));
  if (!range) return { first: 0, end: length, size: length };
  // With If-Range, a client asks for the rest of what it has (RFC 9110, 13.1.5).
  const resumes = request.headers.has('if-range') && last + 1 === size;
  return { first: resumes ? 0 : first, end: last + 1, size };
}

/** Returns the added part, joined with those that it overlaps or touches, and the others. */
function joined(parts: readonly FilePart[], added: FilePart): FilePart[] {
  const isApart = ({ first, end }: FilePart) => first > added.end || end < added.first;
  const one = [added, ...parts.filter((part) => !isApart(part))];
  const first = Math.min(...one.map((part) => part.first));
  const end = Math.max(...one.map((part) => part.end));
  return [{ ...added, first, end }, ...parts.filter(isApart)];
}
