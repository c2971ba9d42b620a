import { type Context, Hono } from 'hono';
import { API_PATH, limits, OPENAPI_PATH, routes } from '../../contract';
import { lazy } from '../../lazy';
import { MANAGEMENT } from '../keys/keyring';
import type { Visitor } from '../rules/access';
import type { Owner } from '../rules/owners';
import type { PushWithNote } from '../rules/pushes';
import { notFound, Refusal } from '../service-errors';
import type { PushRow } from '../store/push-rows';
import { asksForFiles, isMultipart, readPush } from './body';
import { apiToken, baseOf, isCrossSite, isPrefetch } from './caller';
import { announcesFiles, readMultipartPush } from './multipart-push';
import { type Env, type PartOptions, visitorOf } from './parts';
import { auditBody, fileBody, json, jsonWithText, pushBody, versionBody } from './responses';

/** The routes of API v2, relative to its path. */
export function createApi({ pushes, owners, now, limited, settings }: PartOptions): Hono<Env> {
  const api = new Hono<Env>();
  api.use(limited);

  async function visitor(c: Context<Env>): Promise<Visitor> {
    const token = apiToken(c.req.raw);
    if (token?.startsWith(MANAGEMENT) && pushes.isManagedBy(token, c.req.param('token') ?? ''))
      return { ...visitorOf(c, settings), manages: true };
    const owner = token === undefined ? undefined : await owners.authenticate(token);
    // Also for calls that need no token, so that nobody takes an invalid one for valid. Not for version.
    if (token !== undefined && !owner)
      throw new Refusal('unauthorized', 'That token is not valid.');
    return visitorOf(c, settings, owner);
  }

  async function permitted(c: Context<Env>): Promise<Visitor> {
    const caller = await visitor(c);
    if (!caller.owner && !caller.manages && !settings.anonymous) throw needsToken();
    return caller;
  }

  async function signedIn(c: Context<Env>): Promise<Owner> {
    const { owner } = await visitor(c);
    if (!owner) throw needsToken();
    return owner;
  }

  const body = (c: Context<Env>, push: PushRow) =>
    pushBody(push, baseOf(c.req.raw, settings), now());

  api.get(routes.version.path, () => json(versionBody(settings)));

  const document = lazy(() =>
    import('../openapi/document').then(({ openApi }) => openApi(settings)),
  );
  api.get(OPENAPI_PATH, async (c) => {
    await visitor(c);
    const servers = [{ url: baseOf(c.req.raw, settings) + API_PATH }];
    return json({ ...(await document()), servers });
  });

  api.post(routes.create.path, async (c) => {
    if (isCrossSite(c.req.raw))
      throw new Refusal('forbidden', 'A page of another site cannot create pushes.');
    const caller = await permitted(c);
    const { push, note } = isMultipart(c.req.raw)
      ? await createFromMultipart(c, caller)
      : await pushes.create(await readCreation(c, caller), caller);
    const managed = caller.owner
      ? {}
      : { management_token: pushes.managementToken(push.url_token) };
    return json({ ...body(c, push), name: push.name, note, ...managed }, 201);
  });

  async function readCreation(c: Context<Env>, { owner }: Visitor): Promise<object> {
    const push = await readPush(c.req.raw, c.env, c.get('memory'));
    if (!owner && !settings.anonymousFiles && asksForFiles(push)) throw needsToken();
    return push;
  }

  async function createFromMultipart(c: Context<Env>, caller: Visitor): Promise<PushWithNote> {
    const files = caller.owner !== undefined || settings.anonymousFiles;
    if (!files && announcesFiles(c.req.raw)) throw needsToken();
    const upload = files ? pushes.upload() : undefined;
    const limits = { fileBytes: settings.fileBytes, memory: c.get('memory') };
    try {
      const push = await readMultipartPush(c.req.raw, c.env, upload, limits);
      return await pushes.create(push, caller, upload);
    } finally {
      // What cannot be discarded now is left to the sweep.
      await upload?.discard().catch(() => undefined);
    }
  }

  for (const state of ['active', 'expired'] as const) {
    api.get(routes[state].path, async (c) => {
      const owner = await signedIn(c);
      const page = pageNumber(c);
      const list =
        state === 'active' ? pushes.listActive(owner, page) : pushes.listExpired(owner, page);
      return json(
        (await list).map(({ push, note }) => ({ ...body(c, push), name: push.name, note })),
      );
    });
  }

  api.get(routes.retrieve.path, async (c) => {
    const caller = await permitted(c);
    // Neither HEAD, which Hono answers like GET, nor a prefetch may use a view.
    if (c.req.method === 'HEAD') return wrongMethod(allowed(routes.retrieve.path));
    if (isPrefetch(c.req.raw))
      throw new Refusal('malformed', 'A retrieval uses a view and cannot be prefetched.');
    const passphrase = c.req.query('passphrase') ?? '';
    const reserve = (bytes: number) => c.get('memory').add(bytes);
    const found = await pushes.retrieve(urlToken(c), caller, passphrase, reserve);
    const { push, payload, files } = found;
    const base = baseOf(c.req.raw, settings);
    const rest = { files: files.map((file) => fileBody(file, base)) };
    return jsonWithText(body(c, push), 'payload', payload, rest);
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

  for (const { path } of Object.values(routes)) api.all(path, () => wrongMethod(allowed(path)));
  api.all(OPENAPI_PATH, () => wrongMethod(['GET']));
  api.all('*', () => json({ error: 'not-found' }, 404));
  return api;
}

function needsToken(): Refusal {
  return new Refusal(
    'unauthorized',
    'This requires an API token: send it as Authorization: Bearer.',
  );
}

function allowed(path: string): string[] {
  return Object.values(routes)
    .filter((route) => route.path === path)
    .map((route) => route.method);
}

function wrongMethod(methods: string[]): Response {
  return json({ error: 'method-not-allowed' }, 405, { allow: methods.join(', ') });
}

function urlToken(c: Context<Env>): string {
  const token = c.req.param('token') ?? '';
  if (!/^[\w-]{1,128}$/.test(token)) throw notFound();
  return token;
}

function pageNumber(c: Context<Env>): number {
  const { min, max, default: fallback } = limits.page;
  const text = c.req.query('page');
  if (text === undefined) return fallback;
  const page = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (page >= min && page <= max) return page;
  throw new Refusal('malformed', `page must be an integer from ${min} to ${max}.`);
}
