import { type Context, Hono } from 'hono';
import { locales, OPENAPI_PATH, routes } from '../../contract/api';
import type { Visitor } from '../rules/access';
import type { PushWithNote } from '../rules/records';
import { Refusal } from '../service-errors';
import type { PushRow } from '../store/push-rows';
import { asksForFiles, isMultipart, readFields } from './body';
import { baseOf, isCrossSite, isPrefetch } from './caller';
import { createCallers, needsToken, pageNumber, urlToken } from './callers';
import { announcesFiles, readMultipart } from './multipart-push';
import type { Env, PartOptions } from './parts';
import { addRequestRoutes } from './request-routes';
import {
  answer,
  auditBody,
  fileBody,
  json,
  jsonWithText,
  pushBody,
  versionBody,
} from './responses';
import { everyRoute, wrongMethod } from './wrong-method';

/** The routes of API v2, relative to its path. */
export function createApi(options: PartOptions): Hono<Env> {
  const { pushes, now, limited, settings } = options;
  const { visitor, permitted, signedIn } = createCallers(options);
  const api = new Hono<Env>();
  api.use(limited);

  const body = (c: Context<Env>, push: PushRow) =>
    pushBody(push, baseOf(c.req.raw, settings), now());

  api.get(routes.version.path, () => json(versionBody(settings)));

  api.get(OPENAPI_PATH, async (c) => {
    await visitor(c);
    const { default: openapi } = await import('../../../docs/openapi.json?raw');
    return answer(openapi, 'application/json; charset=utf-8');
  });

  api.post(routes.create.path, async (c) => {
    if (isCrossSite(c.req.raw, baseOf(c.req.raw, settings)))
      throw new Refusal('forbidden', 'A page of another site cannot create pushes.');
    const caller = await permitted(c);
    const { push, note } = isMultipart(c.req.raw)
      ? await createFromMultipart(c, caller)
      : await pushes.create(await readCreation(c, caller), caller);
    const managed = caller.owner
      ? {}
      : { management_token: pushes.managementToken(push.url_token) };
    const created = body(c, push);
    const html_url = created.html_url + localeQuery(c);
    return json({ ...created, html_url, name: push.name, note, ...managed }, 201);
  });

  /** The query for a link to the page in the language that `push_locale` names, if there is that language. */
  function localeQuery(c: Context<Env>): string {
    const locale = locales.find((code) => code === c.req.query('push_locale'));
    return locale === undefined ? '' : `?locale=${locale}`;
  }

  async function readCreation(c: Context<Env>, { owner }: Visitor): Promise<object> {
    const push = await readFields(c.req.raw, c.env, c.get('memory'));
    if (!owner && !settings.anonymousFiles && asksForFiles(push)) throw needsToken();
    return push;
  }

  async function createFromMultipart(c: Context<Env>, caller: Visitor): Promise<PushWithNote> {
    const files = caller.owner !== undefined || settings.anonymousFiles;
    if (!files && announcesFiles(c.req.raw)) throw needsToken();
    const upload = files ? pushes.upload() : undefined;
    const limits = { fileBytes: settings.fileBytes, memory: c.get('memory') };
    try {
      const begin = upload && (async () => upload);
      const push = await readMultipart(c.req.raw, c.env, 'push', begin, limits);
      return await pushes.create(push, caller, upload);
    } finally {
      // What cannot be discarded now is left to the sweep.
      await upload?.discard().catch(() => undefined);
    }
  }

  for (const state of ['active', 'expired'] as const) {
    api.get(routes[state].path, async (c) => {
      const { owner } = await signedIn(c);
      const page = pageNumber(c);
      const list = await pushes.list(owner, state, page);
      return json(list.map(({ push, note }) => ({ ...body(c, push), name: push.name, note })));
    });
  }

  api.get(routes.retrieve.path, async (c) => {
    const caller = await permitted(c);
    // Neither HEAD, which Hono answers like GET, nor a prefetch may use a view.
    if (c.req.method === 'HEAD') return wrongMethod(routes.retrieve.path);
    if (isPrefetch(c.req.raw))
      throw new Refusal('malformed', 'A retrieval uses a view and cannot be prefetched.');
    const passphrase = c.req.query('passphrase') ?? '';
    const reserve = (bytes: number) => c.get('memory').add(bytes);
    const found = await pushes.retrieve(urlToken(c), caller, passphrase, reserve);
    const { push, text, files } = found;
    const base = baseOf(c.req.raw, settings);
    const rest = { files: files.map((file) => fileBody(file, base)) };
    return jsonWithText(body(c, push), 'payload', text, rest);
  });

  api.get(routes.preview.path, async (c) => {
    await permitted(c);
    return json({ url: body(c, await pushes.find(urlToken(c))).html_url });
  });

  api.get(routes.audit.path, async (c) => {
    const caller = await visitor(c);
    if (!caller.owner && !caller.manages) throw needsToken();
    return json(auditBody(await pushes.audit(urlToken(c), caller, pageNumber(c))));
  });

  api.delete(routes.expire.path, async (c) => {
    const caller = await permitted(c);
    return json(body(c, await pushes.expire(urlToken(c), caller)));
  });

  api.post(routes.notify.path, async (c) => {
    await permitted(c);
    return json({ error: 'This instance sends no e-mail.' }, 404);
  });

  addRequestRoutes(api, options);
  for (const { path } of everyRoute) api.all(path, () => wrongMethod(path));
  api.all('*', () => json({ error: 'not-found' }, 404));
  return api;
}
