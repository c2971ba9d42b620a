import { openerOf, urlToken } from '../http/authentication';
import { readForm } from '../http/body';
import { json } from '../http/responses';
import { deletedPage } from '../page/messages';
import { asksFirst, doOnce, type PageContext } from '../page/page-context';
import { passphrasePage, passphraseProblem, proofProblem } from '../page/passphrase-form';
import { plainDeleted, plainOffer, plainSecret, wantsText } from '../page/plain';
import { mayExpire, type Visitor } from '../rules/access';
import { notFound } from '../service-errors';
import { retrievedPush } from './push-body';
import { secretPage } from './secret';

/** Shows the secret, or a form if a passphrase, a key proof or a click is needed; `step` always asks for a click. */
export async function openPush(page: PageContext, step: boolean): Promise<Response> {
  const { pushes, events } = page.options;
  const push = await pushes.find(urlToken(page.c));
  const { isIdle } = page;
  if (push.expired_at !== null) {
    if (!isIdle) pushes.missed(push, page.visitor());
    throw notFound();
  }
  if (!step && page.mayView && !asksFirst(push)) return show(page, '');
  if (!isIdle) events.opened(page.visitor().ip);
  if (wantsText(page.request)) return plainOffer(push, page.base);
  return passphrasePage(await page.view(), push, page.base);
}

/**
 * Handles the forms that show the secret or delete the push. A program that asks for JSON gets the body of an API
 * retrieval, but needs no token.
 */
export async function submitPush(page: PageContext): Promise<Response> {
  const { c, request } = page;
  const { pushes } = page.options;
  page.checkForm();
  const form = await readForm(c);
  const passphrase = form.get('passphrase') ?? '';
  const sender = page.sender(form.get('once'), form.get('key_proof'));
  if (page.wantsJson) return show(page, passphrase, sender);
  // The form is read before the push is looked up, so that errors of the form do not show whether the push exists.
  const push = await pushes.find(urlToken(c));
  if (form.get('do') === 'hide') {
    await pushes.forget(push, sender);
    return json({});
  }
  if (push.expired_at !== null && !(await pushes.isRepeated(push, sender))) {
    pushes.missed(push, sender);
    throw notFound();
  }
  const asText = wantsText(request);
  try {
    if (form.get('do') !== 'expire')
      return await doOnce(sender, (visitor) => show(page, passphrase, visitor));
    await pushes.expire({ ...openerOf(c, sender, passphrase), seen: form.get('seen') });
    return asText ? plainDeleted() : deletedPage(await page.view());
  } catch (error) {
    if (asText) throw error;
    const view = await page.view();
    const problem =
      proofProblem(view, error, sender.keyProof !== undefined) ??
      passphraseProblem(view, error, passphrase !== '');
    if (problem) return passphrasePage(view, push, page.base, problem);
    throw error;
  }
}

/** @param sender who submitted a form; the secret is then shown without a veil */
async function show(page: PageContext, passphrase: string, sender?: Visitor): Promise<Response> {
  const visitor = sender ?? page.visitor();
  const seen = await page.options.pushes.retrieve(openerOf(page.c, visitor, passphrase));
  if (page.wantsJson) return retrievedPush(seen, page.base, page.options.now());
  const { row: push, text: payload } = seen;
  if (payload === null) throw notFound();
  const files = page.downloads(seen.files);
  if (wantsText(page.request)) return plainSecret(payload, files);
  const deletionKey = mayExpire(push, visitor) ? page.options.pushes.deletionKey(push) : undefined;
  const hide = visitor.idempotencyKey && `do=hide&once=${visitor.idempotencyKey}`;
  const view = { ...(await page.view()), open: sender !== undefined, hide };
  return secretPage(view, { push, payload, files, deletionKey });
}
