import type { Context, Hono } from 'hono';
import { requestRoutes } from '../../contract/api';
import type { Content } from '../rules/opened';
import type { Opener, PushWithNote } from '../rules/records';
import type { PushRow } from '../store/push-rows';
import { authentication, urlToken } from './authentication';
import type { Env, PartOptions } from './parts';
import { addRecordRoutes, refuseCrossSite } from './record-routes';
import { baseOf } from './request-origin';
import { fileBody, json, jsonWithText, requestBody } from './responses';
import { type BodyFields, textIn, type Wanted, withBody } from './with-body';

/** The routes of requests: to ask someone for a secret (docs/wire.md, "Requests"). */
export function addRequestRoutes(api: Hono<Env>, options: PartOptions): void {
  const { requests, owners, now, settings } = options;
  const { permitted, signedIn } = authentication(options);
  const body = (c: Context<Env>, request: PushRow) =>
    requestBody(request, baseOf(c.req.raw, settings), now());
  const noted = (c: Context<Env>, { push, note }: PushWithNote) => ({
    account_id: null,
    ...body(c, push),
    name: push.name,
    note,
  });
  addRecordRoutes(api, options, {
    root: 'request',
    rules: requests,
    routes: { ...requestRoutes, end: requestRoutes.close },
    states: ['open', 'ready', 'closed', 'active'],
    caller: signedIn,
    mayUpload: () => true,
    reading: 'A request takes its answer',
    read: async (c, opener) => {
      const { request, question, answer } = await requests.read(opener);
      const base = baseOf(c.req.raw, settings);
      const bodies = ({ files }: Content) => files.map((file) => fileBody(file, base));
      const head = {
        ...body(c, request),
        requestor: await owners.requestorOf(request),
        request: question.text,
        request_files: bodies(question),
      };
      return jsonWithText(head, 'response', answer.text, { files: bodies(answer) });
    },
    end: async (c, ...how) => noted(c, { push: await requests.close(...how), note: '' }),
    preview: (c, request) => {
      const { html_url, state } = body(c, request);
      return { url: html_url, state };
    },
    noted,
  });

  api.patch(requestRoutes.respond.path, async (c) => {
    refuseCrossSite(c, settings);
    const caller = await permitted(c);
    // Before the body, which may be large, is read.
    const { url_token } = await requests.find(urlToken(c));
    const opener = (fields: BodyFields) => ({
      urlToken: url_token,
      visitor: caller,
      // That of the body is in no log of a proxy.
      passphrase: textIn(fields, 'passphrase') || (c.req.query('passphrase') ?? ''),
    });
    const answered = await withBody(c, answerBody(options, opener), (input, upload) =>
      requests.respond({ ...opener(input), input, upload }),
    );
    return json(body(c, answered));
  });
}

/**
 * What the body of an answer may have. Its files are stored only for a request that accepts files, is open, and whose
 * passphrase comes before them.
 */
export function answerBody(
  { requests, settings }: PartOptions,
  opener: (fields: BodyFields) => Opener,
): Wanted {
  const begin = (before: BodyFields) => requests.uploadAnswer(opener(before));
  return { root: 'request', begin, fileBytes: settings.fileBytes };
}
