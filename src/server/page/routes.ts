import { type Context, Hono } from 'hono';
import type { Env, PartOptions } from '../http/parts';
import { refusalResponse } from '../http/responses';
import { isFailure, Refusal } from '../service-errors';
import { createFromForm, showForm } from './front-page-routes';
import { errorPage, gonePage, refusalPage } from './messages';
import { PageContext } from './page-context';
import { plainError, wantsText } from './plain';
import { openPush, submitPush } from './push-page-routes';
import { openRequest, submitRequest } from './request-page-routes';
import { openPage } from './secret';

/** The pages a recipient opens in a browser, and the form that creates a push. */
export function createPages(options: PartOptions): Hono<Env> {
  const pages = new Hono<Env>();
  const on = (respond: (page: PageContext) => Promise<Response>) => (c: Context<Env>) =>
    respond(new PageContext(c, options));
  pages.use(options.limited);
  pages.get(
    '/p/:token',
    on((page) => openPush(page, false)),
  );
  pages.get(
    '/p/:token/r',
    on((page) => openPush(page, true)),
  );
  pages.post('/p/:token', on(submitPush));
  pages.post('/p/:token/r', on(submitPush));
  pages.get('/r/:token', on(openRequest));
  pages.post('/r/:token', on(submitRequest));
  pages.get(
    '/',
    on((page) => showForm(page, false)),
  );
  pages.post(
    '/',
    on((page) => createFromForm(page, false)),
  );
  pages.get(
    '/ask',
    on((page) => showForm(page, true)),
  );
  pages.post(
    '/ask',
    on((page) => createFromForm(page, true)),
  );
  pages.get(
    '/open',
    on(async (page) => openPage(await page.view())),
  );
  pages.all(
    '*',
    on(async (page) => gonePage(await page.view())),
  );
  pages.onError(async (error, c) => {
    const page = new PageContext(c, options);
    if (isFailure(error)) options.log.failure(error);
    if (wantsText(page.request)) return plainError(error);
    if (page.wantsJson && error instanceof Refusal) return refusalResponse(error);
    const view = await page.view();
    if (!(error instanceof Refusal)) return errorPage(view);
    return error.kind === 'not_found' ? gonePage(view) : refusalPage(view, error);
  });
  return pages;
}
