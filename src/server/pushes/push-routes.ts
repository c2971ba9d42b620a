import type { Context, Hono } from 'hono';
import { locales, routes } from '../../contract/api';
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
import { withBody } from '../http/with-body';
import { isMaker } from '../rules/access';
import type { PushWithNote } from '../rules/records';
import type { PushRow } from '../store/push-rows';
import { pushBody, retrievedPush } from './push-body';

export function addPushRoutes(api: Hono<Env>, options: PartOptions): void {
  const { pushes, now, settings } = options;
  const { visitor, permitted, signedIn, lister } = authentication(options);
  const objectOf = (c: Context<Env>, push: PushRow) =>
    pushBody(push, baseOf(c.req.raw, settings), now());
  const objectWithNote = (c: Context<Env>, { push, note }: PushWithNote) => {
    return { ...objectOf(c, push), name: push.name, note };
  };

  api.post(routes.create.path, async (c) => {
    refuseCrossSite(c.req.raw, settings);
    const caller = await permitted(c);
    const { anonymousFiles, maxFileSize } = settings;
    const accepted = caller.owner !== undefined;
    const takesFiles = accepted || anonymousFiles;
    const plan = { root: 'push', accepted, takesFiles, maxFileSize } as const;
    const made = await withBody(c, plan, async (body) => {
      if (await body.readFields()) await body.readFiles(pushes.upload(caller));
      return pushes.create(body.takeFields(), caller, body.upload);
    });
    const html_url = objectOf(c, made.push).html_url + localeQuery(c);
    return json({ ...objectWithNote(c, made), html_url }, 201);
  });

  for (const state of ['active', 'expired'] as const) {
    api.get(routes[state].path, async (c) => {
      const owner = await lister(c);
      const list = await pushes.list(owner, state, pageNumber(c));
      return json(list.map((item) => ({ ...objectWithNote(c, item), ...contentSort(item.push) })));
    });
  }

  api.get(routes.retrieve.path, async (c) => {
    const caller = await permitted(c);
    // Hono routes HEAD like GET, but HEAD must not use a view.
    if (c.req.method === 'HEAD') return wrongMethod(routes.retrieve.path);
    refusePrefetch(c.req.raw, 'A retrieval uses a view');
    const seen = await pushes.retrieve(openerOf(c, caller));
    return retrievedPush(seen, baseOf(c.req.raw, settings), now());
  });

  api.get(routes.preview.path, async (c) => {
    const caller = await permitted(c);
    const push = await pushes.find(urlToken(c));
    const object = objectOf(c, push);
    const own = isMaker(push, caller) && { ...object, name: push.name, ...contentSort(push) };
    return json({ url: object.html_url, ...own });
  });

  api.get(routes.audit.path, async (c) => {
    const caller = await signedIn(c);
    return json(auditBody(await pushes.audit(urlToken(c), caller, pageNumber(c))));
  });

  api.delete(routes.expire.path, async (c) => {
    // No token is required, as viewers may expire a push that is deletable by viewers.
    const expired = await pushes.expire(openerOf(c, await visitor(c)));
    return json(objectOf(c, expired));
  });
}

/** Fields of lists only. A list has no payload, so these tell the owner what a push contains. */
const contentSort = ({ kind, sealed_with }: PushRow) => ({ kind, sealed_with });

/** Returns the query that opens a page in the language `push_locale`; '' for an unknown language. */
function localeQuery(c: Context<Env>): string {
  const locale = locales.find((code) => code === c.req.query('push_locale'));
  return locale === undefined ? '' : `?locale=${locale}`;
}
