import type { Context, Hono } from 'hono';
import { requestRoutes } from '../../contract/api';
import type { Visitor } from '../rules/access';
import type { Upload } from '../rules/files';
import type { Content } from '../rules/opened';
import type { PushWithNote } from '../rules/records';
import type { PushRow } from '../store/push-rows';
import { authentication, urlToken } from './authentication';
import type { Env, PartOptions } from './parts';
import { addRecordRoutes, refuseCrossSite } from './record-routes';
import { baseOf } from './request-origin';
import { fileBody, json, jsonWithText, requestBody } from './responses';
import { type Fields, noFields, textIn, withBody } from './with-body';

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
    const request = await requests.find(urlToken(c));
    const fields = noFields();
    const inQuery = c.req.query('passphrase') ?? '';
    const answered = await withAnswer(
      c,
      options,
      { request, caller: () => caller, fields, inQuery },
      (upload) =>
        requests.respond({
          urlToken: request.url_token,
          visitor: caller,
          passphrase: passphraseIn(fields, inQuery),
          input: fields,
          upload,
        }),
    );
    return json(body(c, answered));
  });
}

interface Answer {
  readonly request: PushRow;
  readonly caller: () => Visitor;
  /** Filled as they are read. */
  readonly fields: Fields;
  readonly inQuery?: string;
}

/**
 * Reads the body of an answer, and calls `respond` with the upload of its files. These are stored only for a request that
 * accepts files, is open, and whose passphrase comes before them.
 */
export async function withAnswer<T>(
  c: Context<Env>,
  { requests, settings }: PartOptions,
  { request, caller, fields, inQuery }: Answer,
  respond: (upload: Upload | undefined) => Promise<T>,
): Promise<T> {
  const begin = () =>
    requests.uploadAnswer({
      urlToken: request.url_token,
      visitor: caller(),
      passphrase: passphraseIn(fields, inQuery),
    });
  const wanted = { root: 'request', begin, fileBytes: settings.fileBytes, fields } as const;
  return withBody(c, wanted, (_, upload) => respond(upload));
}

/** The passphrase of the body, where it is in no log of a proxy, or else that of the query. */
export function passphraseIn(fields: Fields, inQuery = ''): string {
  return textIn(fields, 'passphrase') || inQuery;
}
