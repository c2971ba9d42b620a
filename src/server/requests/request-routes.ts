import type { Context, Hono } from 'hono';
import { REQUEST_STATES, requestRoutes } from '../../contract/api';
import type { PartOptions } from '../app-options';
import {
  authentication,
  openerOf,
  pageNumber,
  refusePrefetch,
  urlToken,
} from '../http/authentication';
import type { Env } from '../http/env';
import { baseOf, refuseCrossSite } from '../http/request-origin';
import { auditBody, json, wrongMethod } from '../http/responses';
import { type BodyPlan, textIn, withBody } from '../http/with-body';
import { isMaker, type Visitor } from '../rules/access';
import type { PushWithNote } from '../rules/records';
import type { CheckedSettings } from '../service-settings';
import type { PushRow } from '../store/push-rows';
import { readRequest, requestBody } from './request-body';
import { requestState } from './requests';

/** Requests ask someone for a secret (docs/wire.md, "Requests"). */
export function addRequestRoutes(api: Hono<Env>, options: PartOptions): void {
  const { requests, owners, now, settings } = options;
  const { permitted, signedIn, lister } = authentication(options);
  const objectOf = (c: Context<Env>, request: PushRow) =>
    requestBody(request, baseOf(c.req.raw, settings), now());
  const objectWithNote = (c: Context<Env>, { push, note }: PushWithNote) => {
    return { account_id: null, ...objectOf(c, push), name: push.name, note };
  };

  api.post(requestRoutes.create.path, async (c) => {
    refuseCrossSite(c.req.raw, settings);
    const caller = await signedIn(c);
    const made = await withBody(c, bodyPlan(true, settings), async (body) => {
      if (await body.readFields()) await body.readFiles(requests.upload(caller));
      return requests.create(body.takeFields(), caller, body.upload);
    });
    return json(objectWithNote(c, made), 201);
  });

  for (const state of [...REQUEST_STATES, 'active'] as const) {
    api.get(requestRoutes[state].path, async (c) => {
      const owner = await lister(c);
      const list = await requests.list(owner, state, pageNumber(c));
      return json(list.map((item) => objectWithNote(c, item)));
    });
  }

  api.get(requestRoutes.read.path, async (c) => {
    const caller = await permitted(c);
    // Hono routes HEAD like GET, but HEAD must not take the answer.
    if (c.req.method === 'HEAD') return wrongMethod(requestRoutes.read.path);
    refusePrefetch(c.req.raw, 'A request takes its answer');
    const question = await requests.retrieve(openerOf(c, caller));
    const requestor = await owners.requestorOf(question.row);
    return readRequest(question, requestor, baseOf(c.req.raw, settings), now());
  });

  api.get(requestRoutes.preview.path, async (c) => {
    const caller = await permitted(c);
    const request = await requests.find(urlToken(c));
    const object = objectOf(c, request);
    const { html_url, state, public_key } = object;
    const own = isMaker(request, caller) && { ...object, name: request.name };
    return json({ url: html_url, state, public_key, ...own });
  });

  api.get(requestRoutes.audit.path, async (c) => {
    const caller = await signedIn(c);
    return json(auditBody(await requests.audit(urlToken(c), caller, pageNumber(c))));
  });

  api.delete(requestRoutes.close.path, async (c) => {
    const caller = await signedIn(c);
    const closed = await requests.close(urlToken(c), caller);
    return json(objectWithNote(c, { push: closed, note: '' }));
  });

  api.patch(requestRoutes.respond.path, async (c) => {
    refuseCrossSite(c.req.raw, settings);
    return json(objectOf(c, await answer(c, await permitted(c), options)));
  });
}

async function answer(
  c: Context<Env>,
  visitor: Visitor,
  { requests, settings }: PartOptions,
): Promise<PushRow> {
  // A link of no request is refused before the body is read, which may be large.
  const request = await requests.find(urlToken(c));
  return withBody(c, answerPlan(request, settings), async (body) => {
    // A passphrase in the body takes precedence over one in the query, which proxies log.
    const opener = () => openerOf(c, visitor, textIn(body.fields, 'passphrase') || undefined);
    if (await body.readFields()) await body.readFiles(await requests.uploadAnswer(opener()));
    const { upload } = body;
    return requests.respond({ ...opener(), input: body.takeFields(), upload });
  });
}

/** The time limit of the body is lifted (`BodyPlan.accepted`) only while the request is open. */
export function answerPlan(request: PushRow, settings: Sizes): BodyPlan {
  return bodyPlan(requestState(request) === 'open', settings);
}

type Sizes = Pick<CheckedSettings, 'maxFileSize'>;

function bodyPlan(accepted: boolean, { maxFileSize }: Sizes): BodyPlan {
  return { root: 'request', accepted, takesFiles: true, maxFileSize };
}
