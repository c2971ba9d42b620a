import type { Context, Hono } from 'hono';
import { isPrefetch } from '../http/caller';
import { typedText } from '../http/form-fields';
import { type Env, type PartOptions, visitorOf } from '../http/parts';
import { type AnswerFields, noFields, passphraseIn, withAnswer } from '../http/request-routes';
import { fileUrl, json, refusalHead } from '../http/responses';
import { requestState } from '../rules/requests';
import { Refusal } from '../service-errors';
import type { PushRow } from '../store/push-rows';
import type { View } from './layout';
import { plainText } from './markup';
import { gonePage } from './messages';
import { passphraseProblem } from './passphrase-form';
import {
  answeredPage,
  answerProblem,
  lockedPage,
  type RefusedAnswer,
  requestPage,
  sentPage,
} from './request-page';

/** What these pages take from those of pushes. */
interface Shared {
  readonly base: (c: Context<Env>) => string;
  readonly viewOf: (c: Context<Env>) => Promise<View>;
  readonly checkForm: (c: Context<Env>) => void;
  /** The token of the path, where anybody may open it. */
  readonly tokenOf: (c: Context<Env>) => string;
  /** The page of a push, which the open-source edition has at this address for kind `url`. */
  readonly openPush: (c: Context<Env>) => Promise<Response>;
  readonly submitPush: (c: Context<Env>) => Promise<Response>;
}

/** The pages of the person who answers a request. */
export function addRequestPages(pages: Hono<Env>, options: PartOptions, shared: Shared): void {
  const { requests, owners, settings } = options;
  const { base, viewOf, checkForm, tokenOf, openPush, submitPush } = shared;
  const { fileBytes } = settings;
  const visitor = (c: Context<Env>) => visitorOf(c, settings);

  /** Undefined for the token of anything else. */
  async function find(c: Context<Env>): Promise<PushRow | undefined> {
    return requests.find(tokenOf(c)).catch((error: unknown) => {
      if (error instanceof Refusal && error.kind === 'not_found') return undefined;
      throw error;
    });
  }

  /** The page of a request that cannot be answered any more. */
  async function late(c: Context<Env>, request: PushRow, status: 200 | 409): Promise<Response> {
    const view = await viewOf(c);
    if (request.views > 0 && request.expired_at === null) return answeredPage(view, status);
    return gonePage(view);
  }

  async function show(
    c: Context<Env>,
    { url_token }: PushRow,
    passphrase: string,
    refused?: RefusedAnswer,
  ): Promise<Response> {
    const reserve = (bytes: number) => c.get('memory').add(bytes);
    const read = await requests.read(url_token, visitor(c), passphrase, reserve);
    const question = read.question.text;
    if (question === null) return late(c, read.request, 200);
    const files = read.question.files.map((file) => ({ ...file, url: fileUrl(file, base(c)) }));
    const requestor = await owners.requestorOf(read.request);
    const { request } = read;
    const shown = { request, question, files, requestor, passphrase, fileBytes };
    return requestPage(await viewOf(c), shown, refused);
  }

  pages.get('/r/:token', async (c) => {
    const request = await find(c);
    if (!request) return openPush(c);
    const idle = c.req.method === 'HEAD' || isPrefetch(c.req.raw);
    if (requestState(request) !== 'open') {
      if (!idle && request.expired_at !== null) requests.missed(request, visitor(c));
      return late(c, request, 200);
    }
    if (idle || request.protected || request.retrieval_step)
      return lockedPage(await viewOf(c), request);
    return show(c, request, '');
  });

  pages.post('/r/:token', async (c) => {
    const request = await find(c);
    if (!request) return submitPush(c);
    checkForm(c);
    const fields = noFields();
    const caller = visitor(c);
    try {
      return await withAnswer(c, options, { request, caller, fields }, async (upload) => {
        const passphrase = passphraseIn(fields);
        if (typeof fields.response !== 'string') return unlock(c, request, passphrase);
        fields.response = typedText(fields.response);
        await requests.respond(request.url_token, fields, caller, passphrase, upload);
        return forScript(c) ? json({}) : sentPage(await viewOf(c));
      });
    } catch (refusal) {
      if (!(refusal instanceof Refusal) || refusal.kind === 'abandoned') throw refusal;
      return await refused(c, request, fields, refusal);
    }
  });

  /** The form of the passphrase, or of the step. */
  async function unlock(c: Context<Env>, request: PushRow, passphrase: string): Promise<Response> {
    if (requestState(request) !== 'open') return late(c, request, 200);
    return show(c, request, passphrase);
  }

  async function refused(
    c: Context<Env>,
    request: PushRow,
    fields: AnswerFields,
    refusal: Refusal,
  ): Promise<Response> {
    const view = await viewOf(c);
    const passphrase = passphraseIn(fields);
    const answer = {
      response: typeof fields.response === 'string' ? fields.response : '',
      refusal,
    };
    const problem = passphraseProblem(view, refusal, passphrase !== '');
    const isLate = refusal.kind === 'answered' || refusal.kind === 'closed';
    if (forScript(c)) {
      const late = view.words.text(refusal.kind === 'answered' ? 'answeredTitle' : 'goneTitle');
      const text = isLate
        ? late
        : (problem?.text ?? answerProblem(view, { request, fileBytes }, answer));
      const { status, headers } = refusalHead(refusal);
      return json({ error: plainText(text) }, status, headers);
    }
    if (isLate) return late(c, await requests.find(request.url_token), 409);
    if (problem && request.protected) return lockedPage(view, request, problem);
    // The text is in the page again.
    c.get('memory').add(answer.response.length);
    return show(c, request, passphrase, answer);
  }
}

/** Whether the script of the page sends the form, which shows what comes back itself. */
function forScript(c: Context<Env>): boolean {
  return c.req.header('accept') === 'application/json';
}
