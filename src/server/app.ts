import { type Context, Hono } from 'hono';
import { routePath } from 'hono/route';
import { getPath } from 'hono/utils/url';
import { API_PATH, OPENAPI_PATH } from '../contract/api';
import { createApi } from './api-routes';
import type { AppOptions } from './app-options';
import { commonHeaders } from './common-headers';
import { BodyBudget, type MemoryUse } from './http/body-memory';
import type { App, Env } from './http/env';
import { clientOf, limited } from './http/rate-limit';
import { ipOf, isSecure } from './http/request-origin';
import { json, refusalResponse, responseOf } from './http/responses';
import { createPages } from './page-routes';
import { createDownloads } from './pushes/file-routes';
import { ServiceRefusal } from './service-errors';
import { withoutForged } from './trusted-proxies';

/** This header is sent over https only: over http browsers ignore it with a warning. */
const NO_OPENER = ['cross-origin-opener-policy', 'same-origin'] as const;
/** Makes browsers use https for this host for a year (RFC 6797). */
const HTTPS_ONLY = ['strict-transport-security', 'max-age=31536000'] as const;

export function createApp(options: AppOptions): App {
  const { now, log, isUp, settings } = options;
  const parts = { ...options, limited: limited(settings, now) };
  const budget = new BodyBudget(settings.maxBuffer);
  const { publicUrl } = settings;
  const prefix = publicUrl ? getPath(new Request(publicUrl)).replace(/\/$/, '') : '';
  const app = new Hono<Env>({ getPath: (request) => pathOf(request, prefix) });
  app.use(async (c, next) => {
    const began = now();
    const client = clientOf(ipOf(c.req.raw, c.env), settings.rateLimit);
    const memory = budget.forRequest(client);
    c.env.closed?.(() => memory.release());
    c.set('client', client);
    c.set('memory', memory);
    await next();
    reserveResponse(c, memory);
    if (!c.env.closed) memory.release();
    for (const [name, value] of Object.entries(commonHeaders)) c.res.headers.set(name, value);
    if (isSecure(c.req.raw, settings)) c.res.headers.set(...NO_OPENER);
    // A proxy that terminates TLS sets this header itself.
    if (c.req.url.startsWith('https:')) c.res.headers.set(...HTTPS_ONLY);
    const bytes = c.req.method === 'HEAD' ? 0 : (c.res.headers.get('content-length') ?? 0);
    const tookMs = now().getTime() - began.getTime();
    const { method } = c.req;
    const { status } = c.res;
    log.request({ began, method, route: routePath(c), status, tookMs, bytes: Number(bytes) });
  });
  app.get('/up', async () => {
    const type = 'text/plain; charset=utf-8';
    return (await isUp()) ? responseOf('up\n', type) : responseOf('down\n', type, 503);
  });
  app.route(API_PATH, createApi(parts));
  app.all('/api/*', () => json({ error: 'not-found' }, 404));
  app.route('/', createDownloads(parts));
  app.route('/', createPages(parts));
  app.onError((error) => {
    log.failure(error);
    if (error instanceof ServiceRefusal) return refusalResponse(error);
    return json({ error: 'internal error' }, 500);
  });
  const clean = withoutForged(settings.trusts, log.warning);
  return async (request, connection = {}) => {
    clean(request, connection.ip);
    return app.fetch(request, connection);
  };
}

/** Counts a response against the memory budget unless its route has done so; refuses it if it does not fit. */
function reserveResponse(c: Context<Env>, memory: MemoryUse): void {
  if (c.req.method !== 'GET' || !memory.isEmpty) return;
  try {
    memory.add(Number(c.res.headers.get('content-length')));
  } catch (error) {
    if (!(error instanceof ServiceRefusal)) throw error;
    c.res = undefined;
    c.res = refusalResponse(error);
  }
}

/**
 * Returns the path to route. Password Pusher also accepts `.json` after an API path (docs/wire.md, "Endpoints"), a
 * slash at its end, and `json_url` for a retrieval (docs/wire.md, "Push object"). Asterisks are escaped: Hono would
 * take the path `/*` for the pattern and run the middleware twice.
 */
function pathOf(request: Request, prefix: string): string {
  const path = unprefixed(getPath(request), prefix).replaceAll('*', '%2A');
  if (path.startsWith(`${API_PATH}/`)) {
    const named = path.replace(/\/$/, '');
    return named === API_PATH + OPENAPI_PATH ? named : named.replace(/\.json$/, '');
  }
  const reads = request.method === 'GET' || request.method === 'HEAD';
  const [, kind, token = ''] = (reads && /^\/([pr])\/([\w-]+)\.json$/.exec(path)) || [];
  // These names are listings of the API; they are too short for tokens, which have 19 characters.
  const isList = /^(?:active|expired|open|ready|closed)$/.test(token);
  return token && !isList ? `${API_PATH}/${kind === 'p' ? 'pushes' : 'requests'}/${token}` : path;
}

/** Matches every path of the service but `/`. */
const OURS = /^\/(?:(?:up|ask|open)$|(?:p|r|api|files)\/)/;

/** Removes the path of the public address, which some proxies strip and others pass on. */
function unprefixed(path: string, prefix: string): string {
  if (path === prefix && !OURS.test(path)) return '/';
  const rest = path.startsWith(prefix) ? path.slice(prefix.length) : '';
  return rest === '/' || OURS.test(rest) ? rest : path;
}
