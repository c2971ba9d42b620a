import type { Context, Hono } from 'hono';
import { requestRoutes } from '../../contract/api';
import type { Visitor } from '../rules/access';
import type { Upload } from '../rules/files';
import type { PushWithNote } from '../rules/records';
import { Refusal } from '../service-errors';
import type { PushRow } from '../store/push-rows';
import { isMultipart, readFields } from './body';
import { baseOf, isCrossSite, isPrefetch } from './caller';
import { createCallers, pageNumber, urlToken } from './callers';
import { readMultipart } from './multipart-push';
import type { AppSettings, Env, PartOptions } from './parts';
import { auditBody, fileBody, json, jsonWithText, requestBody } from './responses';
import { wrongMethod } from './wrong-method';

/** The routes of requests: to ask somebody for a secret (docs/wire.md, "Requests"). */
export function addRequestRoutes(api: Hono<Env>, options: PartOptions): void {
  const { requests, owners, now, settings } = options;
  const { permitted, signedIn } = createCallers(options);
  const body = (c: Context<Env>, request: PushRow) =>
    requestBody(request, baseOf(c.req.raw, settings), now());
  const noted = (c: Context<Env>, { push, note }: PushWithNote) => ({
    account_id: null,
    ...body(c, push),
    name: push.name,
    note,
  });

  api.post(requestRoutes.create.path, async (c) => {
    refuseCrossSite(c, settings);
    const caller = await signedIn(c);
    const { raw } = c.req;
    const limits = { fileBytes: settings.fileBytes, memory: c.get('memory') };
    const upload = isMultipart(raw) ? requests.upload() : undefined;
    try {
      const fields = upload
        ? await readMultipart(raw, c.env, 'request', async () => upload, limits)
        : await readFields(raw, c.env, limits.memory, 'request');
      return json(noted(c, await requests.create(fields, caller, upload)), 201);
    } finally {
      // What cannot be discarded now is left to the sweep.
      await upload?.discard().catch(() => undefined);
    }
  });

  for (const state of ['open', 'ready', 'closed', 'active'] as const) {
    api.get(requestRoutes[state].path, async (c) => {
      const { owner } = await signedIn(c);
      const list = await requests.list(owner, state, pageNumber(c));
      return json(list.map((one) => noted(c, one)));
    });
  }

  api.get(requestRoutes.read.path, async (c) => {
    const caller = await permitted(c);
    // Neither HEAD, which Hono answers like GET, nor a prefetch may take the answer.
    if (c.req.method === 'HEAD') return wrongMethod(requestRoutes.read.path);
    if (isPrefetch(c.req.raw))
      throw new Refusal('malformed', 'A request takes its answer and cannot be prefetched.');
    const passphrase = c.req.query('passphrase') ?? '';
    const reserve = (bytes: number) => c.get('memory').add(bytes);
    const read = await requests.read(urlToken(c), caller, passphrase, reserve);
    const base = baseOf(c.req.raw, settings);
    const head = {
      ...body(c, read.request),
      requestor: await owners.requestorOf(read.request),
      request: read.question.text,
      request_files: read.question.files.map((file) => fileBody(file, base)),
    };
    const files = read.answer.files.map((file) => fileBody(file, base));
    return jsonWithText(head, 'response', read.answer.text, { files });
  });

  api.get(requestRoutes.preview.path, async (c) => {
    await permitted(c);
    const { html_url, state } = body(c, await requests.find(urlToken(c)));
    return json({ url: html_url, state });
  });

  api.patch(requestRoutes.respond.path, async (c) => {
    refuseCrossSite(c, settings);
    const caller = await permitted(c);
    // Before the body, which may be large, is read.
    const request = await requests.find(urlToken(c));
    const fields = noFields();
    const inQuery = c.req.query('passphrase') ?? '';
    const answered = await withAnswer(c, options, { request, caller, fields, inQuery }, (upload) =>
      requests.respond(request.url_token, fields, caller, passphraseIn(fields, inQuery), upload),
    );
    return json(body(c, answered));
  });

  api.get(requestRoutes.audit.path, async (c) => {
    const caller = await signedIn(c);
    return json(auditBody(await requests.audit(urlToken(c), caller, pageNumber(c))));
  });

  api.delete(requestRoutes.close.path, async (c) => {
    const caller = await signedIn(c);
    const request = await requests.close(urlToken(c), caller);
    return json(noted(c, { push: request, note: '' }));
  });
}

function refuseCrossSite(c: Context<Env>, settings: AppSettings): void {
  if (isCrossSite(c.req.raw, baseOf(c.req.raw, settings)))
    throw new Refusal('forbidden', 'A page of another site cannot do this.');
}

/** The fields of an answer, of any type. */
export type AnswerFields = Record<string, unknown>;

/** Without a prototype, which a field `__proto__` would replace. */
export function noFields(): AnswerFields {
  return Object.create(null);
}

interface Answer {
  readonly request: PushRow;
  readonly caller: Visitor;
  /** Filled as they are read. */
  readonly fields: AnswerFields;
  /** The passphrase in the query of the request. */
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
  const { raw } = c.req;
  const limits = { fileBytes: settings.fileBytes, memory: c.get('memory') };
  let upload: Upload | undefined;
  const begin = async () => {
    const passphrase = passphraseIn(fields, inQuery);
    upload = await requests.uploadAnswer(request.url_token, caller, passphrase);
    return upload;
  };
  try {
    if (isMultipart(raw)) await readMultipart(raw, c.env, 'request', begin, limits, fields);
    else Object.assign(fields, await readFields(raw, c.env, limits.memory, 'request'));
    return await respond(upload);
  } finally {
    // What cannot be discarded now is left to the sweep.
    await upload?.discard().catch(() => undefined);
  }
}

/** The passphrase of the body, where it is in no log of a proxy, or else that of the query. */
export function passphraseIn({ passphrase }: AnswerFields, inQuery = ''): string {
  return typeof passphrase === 'string' && passphrase !== '' ? passphrase : inQuery;
}
