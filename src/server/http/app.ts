import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import { getPath } from 'hono/utils/url';
import { API_PATH, OPENAPI_PATH } from '../../contract';
import type { Log } from '../ops/log';
import { createPages } from '../page/routes';
import { Refusal } from '../refusal';
import type { Tally } from '../rules/events';
import type { Files } from '../rules/files';
import type { Bounds } from '../rules/new-push';
import type { Owners } from '../rules/owners';
import type { Pushes } from '../rules/pushes';
import { createApi } from './api';
import { BodyBudget, type Held } from './body-budget';
import { type CallerSettings, type Connection, ipOf, isSecure } from './caller';
import { createDownloads } from './file-routes';
import { clientOf, limited, type RateLimit } from './rate-limit';
import { answer, json, refusalBody, refusalHead } from './responses';

export interface AppSettings extends CallerSettings {
  /** Whether those without a token may create and retrieve. */
  readonly anonymous: boolean;
  /** Bytes a file may have. */
  readonly fileBytes: number;
  readonly bounds: Bounds;
  /** Bytes that bodies under way may take in memory. */
  readonly bufferBytes: number;
  /** Nothing where everybody may ask as often as they like. */
  readonly rateLimit?: RateLimit | undefined;
  readonly version: string;
}

export interface AppOptions {
  readonly pushes: Pushes;
  readonly files: Files;
  readonly owners: Owners;
  /** Whether the database answers, soon. */
  readonly isUp: () => Promise<boolean>;
  readonly tally: Tally;
  readonly now: () => Date;
  readonly log: Log;
  readonly settings: AppSettings;
}

/** What the parts of the service are made of. */
export interface PartOptions extends AppOptions {
  /** Refuses whoever asks too often, in the way of the part. */
  readonly limited: MiddlewareHandler<Env>;
}

export interface Env {
  Bindings: Connection;
  Variables: {
    /** Whose share the request counts for; nothing where there are no shares. */
    readonly client: string | undefined;
    /** The memory that the request takes until its answer has been sent. */
    readonly held: Held;
  };
}

export type App = (request: Request, connection?: Connection) => Promise<Response>;

/** Headers of every answer. */
export const everywhere = {
  'cache-control': 'no-store',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'x-robots-tag': 'noindex',
};

/** Browsers warn of it over plain http, where they ignore it. */
const NO_OPENER = ['cross-origin-opener-policy', 'same-origin'] as const;
/** For a year, browsers ask this host over nothing else (RFC 6797). */
const HTTPS_ONLY = ['strict-transport-security', 'max-age=31536000'] as const;

/** The whole service as a function from request to response, without a socket. */
export function createApp(options: AppOptions): App {
  const { now, log, isUp, settings } = options;
  const parts = { ...options, limited: limited(settings, now) };
  const budget = new BodyBudget(settings.bufferBytes);
  const app = new Hono<Env>({ getPath: pathOf });
  app.use(async (c, next) => {
    const began = now();
    const client = clientOf(ipOf(c.req.raw, c.env, settings), settings.rateLimit);
    const held = budget.hold(client);
    c.env.closed?.(() => held.letGo());
    c.set('client', client);
    c.set('held', held);
    await next();
    refuseLarge(c, held);
    if (!c.env.closed) held.letGo();
    for (const [name, value] of Object.entries(everywhere)) c.res.headers.set(name, value);
    if (isSecure(c.req.raw, settings)) c.res.headers.set(...NO_OPENER);
    // A proxy that ends TLS says that for itself.
    if (c.req.url.startsWith('https:')) c.res.headers.set(...HTTPS_ONLY);
    const bytes = c.req.method === 'HEAD' ? 0 : (c.res.headers.get('content-length') ?? 0);
    const took = now().getTime() - began.getTime();
    const { method } = c.req;
    const { status } = c.res;
    log.request({ began, method, route: routePath(c), status, took, bytes: Number(bytes) });
  });
  app.get('/up', async () => {
    const type = 'text/plain; charset=utf-8';
    return (await isUp()) ? answer('up\n', type) : answer('down\n', type, 503);
  });
  app.route(API_PATH, createApi(parts));
  app.all('/api/*', () => json({ error: 'not-found' }, 404));
  app.route('/', createDownloads(parts));
  app.route('/', createPages(parts));
  app.onError((error) => {
    if (error instanceof Refusal) return refused(error);
    log.failure(error);
    return json({ error: 'internal error' }, 500);
  });
  return async (request, connection = {}) => app.fetch(request, connection);
}

/** Counts the answers that nobody counted before; those for which there is no memory are not given. */
function refuseLarge(c: Context<Env>, held: Held): void {
  if (c.req.method !== 'GET' || !held.isEmpty) return;
  try {
    held.add(Number(c.res.headers.get('content-length')));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    c.res = undefined;
    c.res = refused(error);
  }
}

function refused(refusal: Refusal): Response {
  const { status, headers } = refusalHead(refusal);
  return json(refusalBody(refusal), status, headers);
}

/**
 * The path without what the reference allows besides: `.json` after a path of the API (docs/wire.md, "Endpoints"), and
 * `json_url`, another name of a retrieval (docs/wire.md, "Push object"). Asterisks are escaped: Hono takes a path of
 * `/*` for the pattern, and would run what stands before all routes twice.
 */
function pathOf(request: Request): string {
  const path = getPath(request).replaceAll('*', '%2A');
  if (path.startsWith(`${API_PATH}/`))
    return path === API_PATH + OPENAPI_PATH ? path : path.replace(/\.json$/, '');
  const reads = request.method === 'GET' || request.method === 'HEAD';
  const token = reads ? /^\/p\/([\w-]+)\.json$/.exec(path)?.[1] : undefined;
  // The names of the API's own listings are no tokens: those have 19 characters.
  if (!token || token === 'active' || token === 'expired') return path;
  return `${API_PATH}/pushes/${token}`;
}
