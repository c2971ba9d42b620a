import { type Context, Hono } from 'hono';
import { locales, OPENAPI_PATH, routes } from '../../contract/api';
import type { PushRow } from '../store/push-rows';
import { authentication } from './authentication';
import type { Env, PartOptions } from './parts';
import { addRecordRoutes } from './record-routes';
import { baseOf } from './request-origin';
import { addRequestRoutes } from './request-routes';
import {
  everyRoute,
  json,
  pushBody,
  responseOf,
  retrievedPush,
  versionBody,
  wrongMethod,
} from './responses';

/** The routes of API v2, relative to its path. */
export function createApi(options: PartOptions): Hono<Env> {
  const { limited, settings } = options;
  const { visitor, permitted } = authentication(options);
  const api = new Hono<Env>();
  api.use(limited);

  api.get(routes.version.path, () => json(versionBody(settings)));

  api.get(OPENAPI_PATH, async (c) => {
    await visitor(c);
    const { default: openapi } = await import('../../../docs/openapi.json?raw');
    return responseOf(openapi, 'application/json; charset=utf-8');
  });

  api.post(routes.notify.path, async (c) => {
    await permitted(c);
    return json({ error: 'This instance sends no e-mail.' }, 404);
  });

  addPushRoutes(api, options);
  addRequestRoutes(api, options);
  for (const { path } of everyRoute) api.all(path, () => wrongMethod(path));
  api.all('*', () => json({ error: 'not-found' }, 404));
  return api;
}

function addPushRoutes(api: Hono<Env>, options: PartOptions): void {
  const { pushes, now, settings } = options;
  const { permitted } = authentication(options);
  const body = (c: Context<Env>, push: PushRow) =>
    pushBody(push, baseOf(c.req.raw, settings), now());
  addRecordRoutes(api, options, {
    root: 'push',
    rules: pushes,
    routes: { ...routes, read: routes.retrieve, end: routes.expire },
    states: ['active', 'expired'],
    caller: permitted,
    mayUpload: ({ owner }) => owner !== undefined || settings.anonymousFiles,
    reading: 'A retrieval uses a view',
    read: async (c, opener) =>
      retrievedPush(await pushes.retrieve(opener), baseOf(c.req.raw, settings), now()),
    end: async (c, ...how) => body(c, await pushes.expire(...how)),
    preview: (c, push) => ({ url: body(c, push).html_url }),
    noted: (c, { push, note }) => ({ ...body(c, push), name: push.name, note }),
    created: (c, push) => ({ html_url: body(c, push).html_url + localeQuery(c) }),
  });
}

/** The query for a link to the page in the language that `push_locale` names, if there is that language. */
function localeQuery(c: Context<Env>): string {
  const locale = locales.find((code) => code === c.req.query('push_locale'));
  return locale === undefined ? '' : `?locale=${locale}`;
}
