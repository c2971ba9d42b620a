import type { Context } from 'hono';
import { urlToken } from '../http/authentication';
import { readForm } from '../http/body';
import { type Env, reserving } from '../http/parts';
import { json, retrievedPush } from '../http/responses';
import { mayExpire, type Visitor } from '../rules/access';
import { notFound } from '../service-errors';
import type { PushRow } from '../store/push-rows';
import { deletedPage } from './messages';
import { asksFirst, doOnce, isIdle, type PageContext, wantsJson } from './page-context';
import { passphrasePage, passphraseProblem, proofProblem } from './passphrase-form';
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
  if (!(step || idle || asksFirst(push))) return show(page, c, push, '');
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
  const sender = page.sender(c, form.get('once'), form.get('key_proof'));
  if (wantsJson(c.req.raw)) {
    const how = [urlToken(c), sender, passphrase, reserving(c)] as const;
    return retrievedPush(await pushes.retrieve(...how), page.base(c), page.options.now());
  }
  // After the form has been checked, so that its errors do not show whether the push exists.
  const push = await pushes.find(urlToken(c));
  if (form.get('do') === 'hide') {
    await pushes.forget(sender);
    return json({});
  }
  if (push.expired_at !== null && !(await pushes.isRepeated(sender))) {
    pushes.missed(push, sender);
    throw notFound();
  }
  const asText = wantsText(c.req.raw);
  if (form.get('do') === 'expire') {
    await pushes.expire(push.url_token, sender);
    return asText ? plainDeleted() : deletedPage(await page.view(c));
  }
  return doOnce(sender, (who) => show(page, c, push, passphrase, who)).catch(
    async (error: unknown) => {
      if (asText) throw error;
      const view = await page.view(c);
      const problem =
        proofProblem(view, error, sender.keyProof !== undefined) ??
        passphraseProblem(view, error, passphrase !== '');
      if (problem) return passphrasePage(view, push, page.base(c), problem);
      throw error;
    },
  );
}

/** @param sender of the form whose button was pressed, for whom it is shown without a veil */
async function show(
  page: PageContext,
  c: Context<Env>,
  { url_token }: PushRow,
  passphrase: string,
  sender?: Visitor,
): Promise<Response> {
  const caller = sender ?? page.visitor(c);
  const seen = await page.options.pushes.retrieve(url_token, caller, passphrase, reserving(c));
  const { push, text: payload } = seen;
  if (payload === null) throw notFound();
  const files = page.downloads(c, seen.files);
  if (wantsText(c.req.raw)) return plainSecret(payload, files);
  const expirable = mayExpire(push, caller);
  const hide = caller.idempotencyKey && `do=hide&once=${caller.idempotencyKey}`;
  const view = { ...(await page.view(c)), open: sender !== undefined, hide };
  return secretPage(view, { push, payload, files, expirable });
}
