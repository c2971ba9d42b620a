import { urlToken } from '../http/authentication';
import { reserving } from '../http/env';
import { typedText } from '../http/form-fields';
import { json, refusalHead } from '../http/responses';
import { type BodyFields, readBody, textIn } from '../http/with-body';
import { plainText } from '../page/markup';
import { gonePage } from '../page/messages';
import { asksFirst, doOnce, type PageContext } from '../page/page-context';
import { passphrasePage, passphraseProblem } from '../page/passphrase-form';
import { openPush, submitPush } from '../pushes/push-page-routes';
import { secretPage } from '../pushes/secret';
import type { Opener } from '../rules/views';
import { ServiceRefusal } from '../service-errors';
import type { PushRow } from '../store/push-rows';
import {
  answeredPage,
  answerProblem,
  type RefusedAnswer,
  requestPage,
  sentPage,
} from './request-page';
import { answerBody } from './request-routes';
import { requestState } from './requests';

// The pages of the person who answers a request. The open-source edition has pushes of kind `url` at this address.

export async function openRequest(page: PageContext): Promise<Response> {
  const request = await find(page);
  if (!request) return openPush(page, false);
  const { isIdle } = page;
  if (requestState(request) !== 'open') {
    if (!isIdle && request.expired_at !== null)
      page.options.requests.missed(request, page.visitor());
    return late(page, request, 200);
  }
  if (isIdle || asksFirst(request)) return passphrasePage(await page.view(), request, page.base);
  return show(page, request, '');
}

export async function submitRequest(page: PageContext): Promise<Response> {
  const request = await find(page);
  if (!request) return submitPush(page);
  page.checkForm();
  const { requests, log } = page.options;
  const wanted = answerBody(page.options, request, (before) => openerOf(page, request, before));
  const { fields, upload, refusal } = await readBody(page.c, wanted);
  const passphrase = textIn(fields, 'passphrase');
  try {
    if (refusal !== undefined) throw refusal;
    if (fields.do === 'hide') {
      await requests.forget(request, openerOf(page, request, fields).visitor);
      return json({});
    }
    if (typeof fields.api_token === 'string') return await readAnswer(page, request, fields);
    // The form of the passphrase, or of the step.
    if (typeof fields.response !== 'string')
      return requestState(request) === 'open'
        ? await show(page, request, passphrase)
        : await late(page, request, 200);
    fields.response = typedText(fields.response);
    const opener = openerOf(page, request, fields);
    await doOnce(opener.visitor, (visitor) =>
      requests.respond({ ...opener, visitor, input: fields, upload }),
    );
    return page.wantsJson ? json({}) : sentPage(await page.view());
  } catch (error) {
    if (!(error instanceof ServiceRefusal) || error.kind === 'abandoned') throw error;
    log.failure(error);
    return await refused(page, request, fields, error);
  } finally {
    await upload?.discard();
  }
}

/** Who sends a form, with its passphrase. */
function openerOf(page: PageContext, request: PushRow, fields: BodyFields): Opener {
  return {
    urlToken: request.url_token,
    visitor: page.sender(textIn(fields, 'once')),
    passphrase: textIn(fields, 'passphrase'),
    reserve: reserving(page.c),
  };
}

/** Undefined for the token of anything else. */
async function find({ options, c }: PageContext): Promise<PushRow | undefined> {
  return options.requests.find(urlToken(c)).catch((error: unknown) => {
    if (error instanceof ServiceRefusal && error.kind === 'not_found') return undefined;
    throw error;
  });
}

/** The answer, for the user who asked, whose token is in the form. */
async function readAnswer(
  page: PageContext,
  request: PushRow,
  fields: BodyFields,
): Promise<Response> {
  const { owners, requests } = page.options;
  const view = await page.view();
  const owner = await owners.authenticate(textIn(fields, 'api_token').trim());
  if (owner?.id !== request.owner_id) return answeredPage(view, request, 200, true);
  const opener = openerOf(page, request, fields);
  const read = await doOnce({ ...opener.visitor, owner }, (visitor) =>
    requests.read({ ...opener, visitor }),
  );
  const { text, files } = read.answer;
  if (text === null) return late(page, read.request, 200);
  const push = { ...read.request, kind: files.length > 0 ? ('file' as const) : ('text' as const) };
  const shown = { push, payload: text, files: page.downloads(files), deletionKey: undefined };
  const once = textIn(fields, 'once');
  const hide = `${new URLSearchParams({ 'request[do]': 'hide', 'request[once]': once })}`;
  return secretPage({ ...view, open: true, hide }, shown);
}

/** The page of a request that cannot be answered any more. */
async function late(page: PageContext, request: PushRow, status: 200 | 409): Promise<Response> {
  const view = await page.view();
  return requestState(request) === 'ready' ? answeredPage(view, request, status) : gonePage(view);
}

async function show(
  page: PageContext,
  { url_token }: PushRow,
  passphrase: string,
  refused?: RefusedAnswer,
): Promise<Response> {
  const { requests, owners } = page.options;
  const visitor = page.visitor();
  const opener = { urlToken: url_token, visitor, passphrase, reserve: reserving(page.c) };
  const read = await requests.read(opener);
  const { request, question } = read;
  if (question.text === null) return late(page, request, 200);
  const shown = {
    request,
    question: question.text,
    files: page.downloads(question.files),
    requestor: await owners.requestorOf(request),
    passphrase,
    fileBytes: fileLimit(page, request),
  };
  return requestPage(await page.view(), shown, refused);
}

async function refused(
  page: PageContext,
  request: PushRow,
  fields: BodyFields,
  refusal: ServiceRefusal,
): Promise<Response> {
  const { requests } = page.options;
  const view = await page.view();
  const passphrase = textIn(fields, 'passphrase');
  const answer = { response: textIn(fields, 'response'), refusal };
  const problem = passphraseProblem(view, refusal, passphrase !== '');
  const isLate = refusal.kind === 'answered' || refusal.kind === 'closed';
  if (page.wantsJson) {
    const late = view.words.text(refusal.kind === 'answered' ? 'answeredTitle' : 'goneTitle');
    const text = isLate
      ? late
      : (problem?.text ?? answerProblem(view, fileLimit(page, request), answer));
    const { status, headers } = refusalHead(refusal);
    return json({ error: plainText(text) }, status, headers);
  }
  if (isLate) return late(page, await requests.find(request.url_token), 409);
  if (problem && request.protected) return passphrasePage(view, request, page.base, problem);
  // The text is in the page again.
  page.c.get('memory').add(answer.response.length);
  return show(page, request, passphrase, answer);
}

/** Maximum size of a file of the answer in bytes; undefined where it has none. */
function fileLimit({ options }: PageContext, request: PushRow): number | undefined {
  return request.response_file_attachments === 1 ? options.settings.maxFileSize : undefined;
}
