import type { Context, Hono } from 'hono';
import type { Route } from '../../contract/api';
import type { Visitor } from '../rules/access';
import type { Upload } from '../rules/files';
import type { Owner } from '../rules/owners';
import type { Opener, PushWithNote, Records } from '../rules/records';
import { malformed, Refusal } from '../service-errors';
import type { PushRow } from '../store/push-rows';
import { authentication, pageNumber, urlToken } from './authentication';
import { type AppSettings, type Env, type PartOptions, reserving } from './parts';
import { baseOf, isCrossSite, isPrefetch } from './request-origin';
import { auditBody, json, wrongMethod } from './responses';
import { withBody } from './with-body';

/** The differences between pushes and requests at the routes that both have. */
export interface RecordKind<State extends string> {
  readonly root: 'push' | 'request';
  readonly rules: Records & {
    create(input: object, visitor: Visitor, upload?: Upload): Promise<PushWithNote>;
    list(owner: Owner, state: State, page: number): Promise<PushWithNote[]>;
  };
  readonly routes: Readonly<Record<State | 'create' | 'read' | 'preview' | 'audit' | 'end', Route>>;
  readonly states: readonly State[];
  /** Who may create and end one. */
  readonly caller: (c: Context<Env>) => Promise<Visitor>;
  readonly mayUpload: (caller: Visitor) => boolean;
  /** Why a link must not be prefetched. */
  readonly reading: string;
  readonly read: (c: Context<Env>, opener: Opener) => Promise<Response>;
  readonly end: (c: Context<Env>, token: string, caller: Visitor) => Promise<object>;
  readonly preview: (c: Context<Env>, row: PushRow) => object;
  readonly noted: (c: Context<Env>, one: PushWithNote) => object;
  /** Further fields for the creator. */
  readonly created?: (c: Context<Env>, row: PushRow) => object;
}

export function addRecordRoutes<State extends string>(
  api: Hono<Env>,
  options: PartOptions,
  kind: RecordKind<State>,
): void {
  const { settings } = options;
  const { rules, routes, noted } = kind;
  const { permitted, signedIn } = authentication(options);

  api.post(routes.create.path, async (c) => {
    refuseCrossSite(c, settings);
    const caller = await kind.caller(c);
    const begin = kind.mayUpload(caller) ? async () => rules.upload() : undefined;
    const wanted = { root: kind.root, begin, fileBytes: settings.fileBytes };
    const made = await withBody(c, wanted, (fields, upload) =>
      rules.create(fields, caller, upload),
    );
    return json({ ...noted(c, made), ...kind.created?.(c, made.push) }, 201);
  });

  for (const state of kind.states) {
    api.get(routes[state].path, async (c) => {
      const { owner } = await signedIn(c);
      const list = await rules.list(owner, state, pageNumber(c));
      return json(list.map((one) => noted(c, one)));
    });
  }

  api.get(routes.read.path, async (c) => {
    const caller = await permitted(c);
    // Neither HEAD, which Hono routes like GET, nor a prefetch may use a view or take an answer.
    if (c.req.method === 'HEAD') return wrongMethod(routes.read.path);
    if (isPrefetch(c.req.raw)) throw malformed(`${kind.reading} and cannot be prefetched.`);
    const passphrase = c.req.query('passphrase') ?? '';
    return kind.read(c, {
      urlToken: urlToken(c),
      visitor: caller,
      passphrase,
      reserve: reserving(c),
    });
  });

  api.get(routes.preview.path, async (c) => {
    await permitted(c);
    return json(kind.preview(c, await rules.find(urlToken(c))));
  });

  api.get(routes.audit.path, async (c) => {
    const caller = await signedIn(c);
    return json(auditBody(await rules.audit(urlToken(c), caller, pageNumber(c))));
  });

  api.delete(routes.end.path, async (c) => {
    const caller = await kind.caller(c);
    return json(await kind.end(c, urlToken(c), caller));
  });
}

/** @throws Refusal when a browser sends the request on behalf of another site */
export function refuseCrossSite(c: Context<Env>, settings: AppSettings): void {
  if (isCrossSite(c.req.raw, baseOf(c.req.raw, settings)))
    throw new Refusal('forbidden', 'A page of another site cannot do this.');
}
