import { Hono } from 'hono';
import type { Env, PartOptions } from '../http/parts';
import { refusalResponse } from '../http/responses';
import { isFailure, Refusal } from '../service-errors';
import { createFromForm, showForm } from './front-page-routes';
import { errorPage, gonePage, refusalPage } from './messages';
import { PageContext, wantsJson } from './page-context';
import { plainError, wantsText } from './plain';
import { openPush, submitPush } from './push-page-routes';
import { openRequest, submitRequest } from './request-page-routes';
import { openPage } from './secret';

/** The pages a recipient opens in a browser, and the form that creates a push. */
export function createPages(options: PartOptions): Hono<Env> {
  const page = new PageContext(options);
  const pages = new Hono<Env>();
  pages.use(options.limited);
  pages.get('/p/:token', (c) => openPush(page, c, false));
  pages.get('/p/:token/r', (c) => openPush(page, c, true));
  pages.post('/p/:token', (c) => submitPush(page, c));
  pages.post('/p/:token/r', (c) => submitPush(page, c));
  pages.get('/r/:token', (c) => openRequest(page, c));
  pages.post('/r/:token', (c) => submitRequest(page, c));
  pages.get('/', (c) => showForm(page, c, false));
  pages.post('/', (c) => createFromForm(page, c, false));
  pages.get('/ask', (c) => showForm(page, c, true));
  pages.post('/ask', (c) => createFromForm(page, c, true));
  pages.get('/open', async (c) => openPage(await page.view(c)));
  pages.all('*', async (c) => gonePage(await page.view(c)));
  pages.onError(async (error, c) => {
    if (isFailure(error)) options.log.failure(error);
    if (wantsText(c.req.raw)) return plainError(error);
    if (wantsJson(c.req.raw) && error instanceof Refusal) return refusalResponse(error);
    const view = await page.view(c);
    if (!(error instanceof Refusal)) return errorPage(view);
    return error.kind === 'not_found' ? gonePage(view) : refusalPage(view, error);
  });
  return pages;
}
