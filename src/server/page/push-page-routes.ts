import type { Context } from 'hono';
import { urlToken } from '../http/authentication';
import { readForm } from '../http/body';
import { type Env, reserving } from '../http/parts';
import { retrievedPush } from '../http/responses';
import { mayExpire } from '../rules/access';
import { notFound } from '../service-errors';
import type { PushRow } from '../store/push-rows';
import { deletedPage } from './messages';
import { asksFirst, isIdle, type PageContext, wantsJson } from './page-context';
import { passphrasePage, passphraseProblem } from './passphrase-form';
import { plainDeleted, plainOffer, plainSecret, wantsText } from './plain';
import { secretPage } from './secret';

/** The page of a link, and its secret if nothing has to be asked before; `step` is for a link that asks for a button. */
export async function openPush(
  page: PageContext,
  c: Context<Env>,
  step: boolean,
): Promise<Response> {
  const { pushes, events } = page.options;
  const push = await pushes.find(urlToken(c));
  const idle = isIdle(c);
  if (push.expired_at !== null) {
    if (!idle) pushes.missed(push, page.visitor(c));
    throw notFound();
  }
  if (!(step || idle || asksFirst(push))) return show(page, c, push, '', false);
  if (!idle) events.opened(page.visitor(c).ip);
  if (wantsText(c.req.raw)) return plainOffer(push, page.base(c));
  return passphrasePage(await page.view(c), push, page.base(c));
}

/**
 * The form of the passphrase, or of the button; and the one that deletes the push. A program that asks for JSON gets what the
 * API would return, also where that requires a token.
 */
export async function submitPush(page: PageContext, c: Context<Env>): Promise<Response> {
  const { pushes } = page.options;
  page.checkForm(c);
  const form = await readForm(c.req.raw, c.env, c.get('memory'));
  const passphrase = form.get('passphrase') ?? '';
  if (wantsJson(c.req.raw)) {
    const how = [urlToken(c), page.visitor(c), passphrase, reserving(c)] as const;
    return retrievedPush(await pushes.retrieve(...how), page.base(c), page.options.now());
  }
  // After the form has been checked, so that its errors do not show whether the push exists.
  const push = await pushes.find(urlToken(c));
  if (push.expired_at !== null) {
    pushes.missed(push, page.visitor(c));
    throw notFound();
  }
  const asText = wantsText(c.req.raw);
  if (form.get('do') === 'expire') {
    await pushes.expire(push.url_token, page.visitor(c));
    return asText ? plainDeleted() : deletedPage(await page.view(c));
  }
  return show(page, c, push, passphrase, true).catch(async (error: unknown) => {
    if (asText) throw error;
    const view = await page.view(c);
    const problem = passphraseProblem(view, error, passphrase !== '');
    if (problem) return passphrasePage(view, push, page.base(c), problem);
    throw error;
  });
}

/** @param open whether it is shown without a veil, after a button was pressed */
async function show(
  page: PageContext,
  c: Context<Env>,
  { url_token }: PushRow,
  passphrase: string,
  open: boolean,
): Promise<Response> {
  const caller = page.visitor(c);
  const seen = await page.options.pushes.retrieve(url_token, caller, passphrase, reserving(c));
  const { push, text: payload } = seen;
  if (payload === null) throw notFound();
  const files = page.downloads(c, seen.files);
  if (wantsText(c.req.raw)) return plainSecret(payload, files);
  const expirable = mayExpire(push, caller);
  return secretPage({ ...(await page.view(c)), open }, { push, payload, files, expirable });
}
