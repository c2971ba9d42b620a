import { openerOf, urlToken } from '../http/authentication';
import { typedText } from '../http/form-fields';
import { json, refusalHead } from '../http/responses';
import { type ArrivingBody, type BodyFields, textIn, withBody } from '../http/with-body';
import { plainText } from '../page/markup';
import { gonePage } from '../page/messages';
import { asksFirst, doOnce, type PageContext } from '../page/page-context';
import { passphrasePage, passphraseProblem } from '../page/passphrase-form';
import { openPush, submitPush } from '../pushes/push-page-routes';
import { secretPage } from '../pushes/secret';
import { isOwn } from '../rules/access';
import type { Opener } from '../rules/views';
import { ServiceRefusal, unlessRefused } from '../service-errors';
import type { PushRow } from '../store/push-rows';
import {
  answeredPage,
  answerProblem,
  type RefusedAnswer,
  requestPage,
  sentPage,
} from './request-page';
import { answerPlan } from './request-routes';
import { requestState } from './requests';

// Pages at `/r/`, for the person who answers a request. A push is shown there too, as Password Pusher's open-source
// edition has pushes of kind `url` at these addresses.

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
  return show(page, '');
}

export async function submitRequest(page: PageContext): Promise<Response> {
  const request = await find(page);
  if (!request) return submitPush(page);
  page.checkForm();
  return withBody(page.c, answerPlan(request, page.options.settings), async (body) => {
    try {
      return await submit(page, request, body);
    } catch (error) {
      return showRefusal(page, request, body.fields, page.refusalOf(error));
    }
  });
}

async function submit(page: PageContext, request: PushRow, body: ArrivingBody): Promise<Response> {
  const { requests } = page.options;
  if (await body.readFields())
    await body.readFiles(await requests.uploadAnswer(senderOf(page, body.fields)));
  const { fields, upload } = body;
  const opener = senderOf(page, fields);
  if (fields.do === 'hide') {
    await requests.forget(request, opener.visitor);
    return json({});
  }
  if (typeof fields.api_token === 'string') return readAnswer(page, request, fields);
  // The form before the question, for a passphrase or a click, has no field `response`.
  if (typeof fields.response !== 'string')
    return requestState(request) === 'open'
      ? show(page, opener.passphrase)
      : late(page, request, 200);
  fields.response = typedText(fields.response);
  await doOnce(opener.visitor, (visitor) =>
    requests.respond({ ...opener, visitor, input: fields, upload }),
  );
  return page.wantsJson ? json({}) : sentPage(await page.view());
}

function senderOf(page: PageContext, fields: BodyFields): Opener {
  return openerOf(page.c, page.sender(textIn(fields, 'once')), textIn(fields, 'passphrase'));
}

/** Returns undefined if no request has the token. */
async function find({ options, c }: PageContext): Promise<PushRow | undefined> {
  return options.requests.find(urlToken(c)).catch((error: unknown) => {
    if (error instanceof ServiceRefusal && error.kind === 'not_found') return undefined;
    throw error;
  });
}

/** Shows the answer to the owner of the request, whose API token is in the form. */
async function readAnswer(
  page: PageContext,
  request: PushRow,
  fields: BodyFields,
): Promise<Response> {
  const { owners, requests } = page.options;
  const view = await page.view();
  const owner = await owners
    .authenticate(textIn(fields, 'api_token').trim())
    .catch(unlessRefused('unauthorized'));
  if (!isOwn(request, { owner })) return answeredPage(view, request, 200, true);
  const opener = senderOf(page, fields);
  const read = await doOnce({ ...opener.visitor, owner }, (visitor) =>
    requests.retrieve({ ...opener, visitor }),
  );
  const { text, files } = read.answer;
  if (text === null) return late(page, read.row, 200);
  const push = { ...read.row, kind: files.length > 0 ? ('file' as const) : ('text' as const) };
  const shown = { push, payload: text, files: page.downloads(files), deletionKey: undefined };
  const once = textIn(fields, 'once');
  const hide = `${new URLSearchParams({ 'request[do]': 'hide', 'request[once]': once })}`;
  return secretPage({ ...view, open: true, hide }, shown);
}

/** Returns the page of a request that takes no answer any more. */
async function late(page: PageContext, request: PushRow, status: 200 | 409): Promise<Response> {
  const view = await page.view();
  return requestState(request) === 'ready' ? answeredPage(view, request, status) : gonePage(view);
}

async function show(
  page: PageContext,
  passphrase: string,
  refused?: RefusedAnswer,
): Promise<Response> {
  const { requests, owners } = page.options;
  const opener = openerOf(page.c, page.visitor(), passphrase);
  const { row: request, text: question, files } = await requests.retrieve(opener);
  if (question === null) return late(page, request, 200);
  const shown = {
    request,
    question,
    files: page.downloads(files),
    requestor: await owners.requestorOf(request),
    passphrase,
    fileBytes: fileLimit(page, request),
  };
  return requestPage(await page.view(), shown, refused);
}

async function showRefusal(
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
  // Reserves memory for the response, as the page contains it again.
  page.c.get('memory').add(answer.response.length);
  return show(page, passphrase, answer);
}

/** Maximum size of a file in bytes; undefined if the request takes no files. */
function fileLimit({ options }: PageContext, request: PushRow): number | undefined {
  return request.response_file_attachments === 1 ? options.settings.maxFileSize : undefined;
}
