import { type Context, Hono } from 'hono';
import { isArmored } from '../age/sealed-with';
import { pushLink } from '../contract/address';
import { API_PATH, routes } from '../contract/api';
import type { PartOptions } from './app-options';
import { cleanPath } from './http/clean-path';
import type { Env } from './http/env';
import { typedText } from './http/form-fields';
import { json, refusalResponse } from './http/responses';
import { type ArrivingBody, type BodyFields, textIn, withBody } from './http/with-body';
import { errorPage, gonePage, noPage, refusalPage } from './page/messages';
import { doOnce, PageContext } from './page/page-context';
import { plainError, wantsText } from './page/plain';
import { askPage, createdPage, type FormLimits, frontPage } from './pushes/front';
import { openPush, submitPush } from './pushes/push-page-routes';
import { openPage } from './pushes/secret';
import { openRequest, submitRequest } from './requests/request-page-routes';
import type { Visitor } from './rules/access';
import { invalid, ServiceRefusal, unlessRefused } from './service-errors';

/** The pages a recipient opens in a browser, and the form that creates a push. */
export function createPages(options: PartOptions): Hono<Env> {
  const pages = new Hono<Env>();
  const on =
    <More extends unknown[]>(
      respond: (page: PageContext, ...more: More) => Promise<Response>,
      ...more: More
    ) =>
    (c: Context<Env>) =>
      respond(new PageContext(c, options), ...more);
  pages.use(options.limited);
  pages.use((c, next) => (V1.test(c.req.path) ? Promise.resolve(withoutV1(c.req.method)) : next()));
  pages.get('*', (c, next) => repaired(new PageContext(c, options)) ?? next());
  pages.get('/p/:token', on(openPush, false));
  pages.get('/p/:token/r', on(openPush, true));
  pages.post('/p/:token', on(submitPush));
  pages.post('/p/:token/r', on(submitPush));
  pages.get('/r/:token', on(openRequest));
  pages.post('/r/:token', on(submitRequest));
  pages.get('/', on(showForm, false));
  pages.post('/', on(createFromForm, false));
  pages.get('/ask', on(showForm, true));
  pages.post('/ask', on(createFromForm, true));
  pages.get(
    '/open',
    on(async (page) => openPage(await page.view())),
  );
  pages.all(
    '*',
    on(async (page) => noPage(await page.view())),
  );
  pages.onError(async (error, c) => {
    const page = new PageContext(c, options);
    options.log.failure(error);
    if (wantsText(page.request)) return plainError(error);
    if (page.wantsJson && error instanceof ServiceRefusal) return refusalResponse(error);
    const view = await page.view();
    if (!(error instanceof ServiceRefusal)) return errorPage(view);
    return error.kind === 'not_found' ? gonePage(view) : refusalPage(view, error);
  });
  return pages;
}

/** Matches paths of API v1. `pathOf` in app.ts routes `GET /p/:token.json` to API v2, as its `json_url`. */
const V1 = /^\/[pdfr](?:\/[\w-]+){0,2}\.json$/;

/** Refuses a request of API v1 in JSON, as its client cannot read a page. */
function withoutV1(method: string): Response {
  const instead = method === 'POST' ? `POST ${API_PATH}${routes.create.path}` : API_PATH;
  return json({ error: `API v1 is not supported: use ${instead}` }, 404);
}

/** Redirects to the link without text that was pasted with it; browsers keep the fragment. Uses no view. */
function repaired({ request, base, c }: PageContext): Response | undefined {
  const clean = cleanPath(c.req.path);
  if (clean === undefined) return undefined;
  const location = base + clean + new URL(request.url).search;
  return new Response(null, { status: 302, headers: { location } });
}

/** Shows the form that shares a secret or, if `asks`, the form that asks for one. */
async function showForm(page: PageContext, asks: boolean): Promise<Response> {
  const show = asks ? askPage : frontPage;
  return show(await page.view(), { base: page.base, form: formLimits(page, asks) });
}

/** Creates the push or request of a form by the rules of the API. A token, if needed, is a field before the files. */
async function createFromForm(page: PageContext, asks: boolean): Promise<Response> {
  page.checkForm();
  const form = formLimits(page, asks);
  const { maxFileSize } = page.options.settings;
  const takesFiles = form.fileBytes !== undefined;
  const plan = { root: 'push', accepted: false, takesFiles, maxFileSize } as const;
  return withBody(page.c, plan, async (body) => {
    try {
      return await create(page, form, body);
    } catch (error) {
      const refusal = page.refusalOf(error);
      const { fields, upload } = body;
      // The page contains the text again, which takes memory.
      page.c.get('memory').add(textIn(fields, 'payload').length);
      const refused = { fields, refusal, files: upload?.fileCount ?? 0 };
      return (asks ? askPage : frontPage)(await page.view(), { base: page.base, form, refused });
    }
  });
}

async function create(
  page: PageContext,
  { asks, needsToken }: FormLimits,
  body: ArrivingBody,
): Promise<Response> {
  const { pushes, requests } = page.options;
  const hasFiles = await body.readFields();
  const creator = await creatorOf(page, body.fields, needsToken);
  if (hasFiles) await body.readFiles(pushes.upload(creator));
  const { fields, upload } = body;
  if (typeof fields.payload === 'string') fields.payload = typedText(fields.payload);
  const { push } = await doOnce(creator, (visitor) =>
    asks
      ? requests.create(requestFields(fields), visitor)
      : pushes.create(pushFields(fields), visitor, upload),
  );
  const encrypted = isArmored(textIn(fields, 'payload'));
  const link = asks ? `${page.base}/r/${push.url_token}` : pushLink(page.base, push);
  return createdPage(await page.view(), push, link, encrypted);
}

/**
 * Returns the sender of the form; if `needsToken`, as the owner of the token, which it removes from the fields.
 * @throws ServiceRefusal when the token is not valid
 */
async function creatorOf(
  page: PageContext,
  fields: BodyFields,
  needsToken: boolean,
): Promise<Visitor> {
  const visitor = page.sender(textIn(fields, 'once'));
  if (!needsToken) return visitor;
  const token = textIn(fields, 'api_token').trim();
  delete fields.api_token;
  const owner = await page.options.owners.authenticate(token).catch(unlessRefused('unauthorized'));
  if (!owner) throw invalid({ api_token: ['That token is not valid.'] });
  return { ...visitor, owner };
}

/** Returns the fields for `Pushes.create`: days and hours in seconds (`expires_in`), but days alone unchanged. */
function pushFields({ expire_after_days, hours, ...rest }: BodyFields): BodyFields {
  if (Number(hours ?? 0) === 0 && Number(expire_after_days) !== 0)
    return { ...rest, expire_after_days };
  return { ...rest, expires_in: secondsIn(expire_after_days, hours) };
}

function requestFields({ payload, expire_after_days, hours }: BodyFields): BodyFields {
  return { request: payload, close_after: secondsIn(expire_after_days, hours) };
}

function secondsIn(days: unknown, hours: unknown): number {
  return (Number(days) * 24 + Number(hours)) * 3600;
}

/** Files need a token unless `anonymousFiles` is set. */
function formLimits({ options }: PageContext, asks: boolean): FormLimits {
  const { anonymous, anonymousFiles, bounds, maxFileSize } = options.settings;
  const needsToken = asks || !anonymous;
  const files = !asks && (anonymousFiles || needsToken);
  return { bounds, fileBytes: files ? maxFileSize : undefined, needsToken, asks };
}
