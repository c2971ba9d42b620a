import { Hono, type MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import { getPath } from 'hono/utils/url';
import { API_PATH, OPENAPI_PATH } from '../api/contract';
import { answer, json, refusalBody, refusalHead } from './answer';
import { createApi } from './api';
import type { CallerSettings, Connection } from './caller';
import type { Bounds } from './creation';
import { createDownloads } from './download';
import type { Files } from './files';
import type { Log } from './log';
import type { Owners } from './owners';
import { createPages } from './page/routes';
import type { Pushes } from './pushes';
import { limited, type RateLimit } from './rate-limit';
import { Refusal } from './refusal';
import type { Tally } from './tally';

export interface AppSettings extends CallerSettings {
  /** Whether those without a token may create and retrieve. */
  readonly anonymous: boolean;
  /** Bytes a file may have. */
  readonly fileBytes: number;
  readonly bounds: Bounds;
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
}

export type App = (request: Request, connection?: Connection) => Promise<Response>;

/** Headers of every answer. */
export const everywhere = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'x-robots-tag': 'noindex',
};

/** The whole service as a function from request to response, without a socket. */
export function createApp(options: AppOptions): App {
  const { now, log, isUp, settings } = options;
  const parts = { ...options, limited: limited(settings, now) };
  const app = new Hono<Env>({ getPath: pathOf });
  app.use(async (c, next) => {
    const began = now();
    await next();
    for (const [name, value] of Object.entries(everywhere)) c.res.headers.set(name, value);
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
    if (error instanceof Refusal) {
      const { status, headers } = refusalHead(error);
      return json(refusalBody(error), status, headers);
    }
    log.failure(error);
    return json({ error: 'internal error' }, 500);
  });
  return async (request, connection = {}) => app.fetch(request, connection);
}

/**
 * The path without what the reference allows besides: `.json` after a path of the API (docs/wire.md, "Endpoints"), and
 * `json_url`, another name of a retrieval (docs/wire.md, "Push object").
 */
function pathOf(request: Request): string {
  const path = getPath(request);
  if (path.startsWith(`${API_PATH}/`))
    return path === API_PATH + OPENAPI_PATH ? path : path.replace(/\.json$/, '');
  const reads = request.method === 'GET' || request.method === 'HEAD';
  const token = reads ? /^\/p\/([\w-]+)\.json$/.exec(path)?.[1] : undefined;
  // The names of the API's own listings are no tokens: those have 19 characters.
  if (!token || token === 'active' || token === 'expired') return path;
  return `${API_PATH}/pushes/${token}`;
}
