import { Hono } from 'hono';
import openapi from '../../docs/openapi.json?raw';
import { API_VERSION, APPLICATION, OPENAPI_PATH, routes } from '../contract/api';
import { keyEcho } from '../contract/key-echo';
import type { AppSettings, PartOptions } from './app-options';
import { authentication } from './http/authentication';
import type { Env } from './http/env';
import { idempotencyKey } from './http/request-origin';
import { everyRoute, iso, json, responseOf, wrongMethod } from './http/responses';
import { addPushRoutes } from './pushes/push-routes';
import { addRequestRoutes } from './requests/request-routes';
import { unlessRefused } from './service-errors';
import { addExchangeRoute } from './trust/exchange-route';

/** The routes of API v2, relative to `API_PATH`. */
export function createApi(options: PartOptions): Hono<Env> {
  const { exchange, limited, settings } = options;
  const { visitor } = authentication(options);
  const api = new Hono<Env>();
  api.use(limited);

  api.get(routes.version.path, async (c) => {
    const body = versionBody(settings, idempotencyKey(c.req.raw));
    // A token that is not valid, or cannot be checked now, does not matter here.
    const { owner } = (await visitor(c).catch(unlessRefused())) ?? {};
    const features = { ...body.features, token_exchange: await exchange.feature() };
    const { scope, ends_at = null } = owner ?? {};
    const token = scope && { scope, expires_at: ends_at === null ? null : iso(ends_at) };
    return json({ ...body, features, token });
  });

  api.get(OPENAPI_PATH, async (c) => {
    await visitor(c);
    return responseOf(openapi, 'application/json; charset=utf-8');
  });

  addPushRoutes(api, options);
  addRequestRoutes(api, options);
  addExchangeRoute(api, options);
  for (const { path } of everyRoute) api.all(path, () => wrongMethod(path));
  api.all('*', () => json({ error: 'not-found' }, 404));
  return api;
}

/** Returns the version and features of this instance (docs/wire.md, "Editions and versions"), and echoes a key. */
function versionBody({ version, anonymous, anonymousFiles }: AppSettings, key?: string) {
  return {
    ...(key === undefined ? {} : { idempotency_key: keyEcho(key) }),
    application_version: version,
    api_version: API_VERSION,
    edition: 'oss',
    application: APPLICATION,
    features: {
      anonymous_access: anonymous,
      api_token_authentication: true,
      accounts: { enabled: false },
      pushes: {
        enabled: true,
        email_auto_dispatch: false,
        file_attachments: { enabled: true, requires_authentication: !anonymousFiles },
        url_pushes: { enabled: true },
        qr_code_pushes: { enabled: true },
        expires_in: { enabled: true },
        json_pages: { enabled: true },
        idempotency: true,
        key_proofs: true,
      },
      requests: { enabled: true },
    },
  };
}
