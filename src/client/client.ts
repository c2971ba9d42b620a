import * as v from 'valibot';
import type { HeaderFields, HttpRequest, Token, Transport } from '../context';
import {
  type Account,
  API_PATH,
  type AuditEntry,
  accountsSchema,
  auditSchema,
  commercialRoutes,
  createdSchema,
  type InstanceVersion,
  limits,
  type NewPush,
  type Notification,
  type Notified,
  notifiedSchema,
  type Preview,
  type Push,
  previewSchema,
  pushListSchema,
  pushSchema,
  retrievedSchema,
  routes,
  versionSchema,
} from '../contract';
import { failedError, usageError } from '../errors';
import { parseJson } from '../json';
import {
  malformed,
  responseError,
  type SentRequest,
  type TokenSource,
  tooLong,
  transportFailure,
} from './failure';
import type { FileAnswer, Resume } from './file-link';
import type { Attachment, FormBody } from './form';
import { AnswerTooLong, type ApiResponse, call, sharedBackoff } from './transport/call';
import { TransportError } from './transport/network-errors';

export interface ApiSettings extends TokenSource {
  /** The instance's base address, without a final slash. */
  readonly base: string;
  readonly token?: Token | undefined;
  /** Begins to connect to the instance, while the token is being got. */
  readonly open?: (() => void) | undefined;
  /** Of the user, for a proxy in front of the instance; sent with the token, to the instance's origin only. */
  readonly headers?: HeaderFields | undefined;
  readonly userAgent: string;
  readonly send: Transport;
  readonly now: () => Date;
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** Called before each wait that a 429 or 503 asks for. */
  readonly waiting?: (seconds: number, status: number) => void | Promise<void>;
}

/** One method per endpoint of API v2. All throw a `CliError`. */
export interface Api {
  version(): Promise<InstanceVersion>;
  /**
   * Never sent twice, as this would create two pushes. Files are read while they are sent.
   * @param account the id of an account of the commercial edition
   */
  create(push: NewPush, files?: readonly Attachment[], account?: number): Promise<Push>;
  /** Takes a view; never sent twice. Also returns an expired push, with `expired: true`. */
  retrieve(token: string, passphrase?: string): Promise<Push>;
  /** The link for a browser; takes no view. */
  preview(token: string): Promise<Preview>;
  /** A page of the log, in the instance's order; `[]` after the last. Needs the owner's token. */
  audit(token: string, page: number): Promise<AuditEntry[]>;
  expire(token: string): Promise<Push>;
  /** Makes the instance e-mail the link; never sent twice. */
  notify(token: string, notification: Notification): Promise<Notified>;
  /** A page of the user's pushes, or of those of an account, in the instance's order; `[]` after the last. */
  list(state: 'active' | 'expired', page: number, account?: number): Promise<Push[]>;
  /** The accounts of the user; commercial edition. */
  accounts(): Promise<Account[]>;
  /** Opens the `url` of a push's file; takes no view. Also throws a `TransportError`, when the connection breaks. */
  openFile(url: string, resume?: Resume): Promise<FileAnswer>;
}

const allRoutes = { ...routes, ...commercialRoutes };

interface ApiRequest {
  readonly route: keyof typeof allRoutes;
  readonly token?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** A body with files; JSON otherwise. */
  readonly form?: FormBody | undefined;
  readonly secrets?: readonly (string | undefined)[];
}

export function apiClient(options: ApiSettings): Api {
  const { waiting = () => {} } = options;
  const settings = { ...options, ...sharedBackoff({ ...options, waiting }) };
  const ask = <T>(request: ApiRequest, schema: v.GenericSchema<unknown, T>) =>
    send(settings, request, schema);
  return {
    version: () => ask({ route: 'version' }, versionSchema),
    create: async (push, files = [], account = undefined) => {
      const secrets = [push.payload, push.passphrase, push.note];
      const beside = account === undefined ? {} : { account_id: account };
      if (files.length === 0)
        return ask({ route: 'create', body: { push, ...beside }, secrets }, createdSchema);
      const { formBody } = await import('./form');
      const form = formBody(push, files, undefined, beside);
      return ask({ route: 'create', form, secrets }, createdSchema);
    },
    retrieve: (token, passphrase) =>
      ask(
        passphrase === undefined
          ? { route: 'retrieve', token }
          : { route: 'retrieve', token, query: { passphrase }, secrets: [passphrase] },
        retrievedSchema,
      ),
    preview: (token) => ask({ route: 'preview', token }, previewSchema),
    audit: async (token, page) =>
      (await ask({ route: 'audit', token, query: { page: String(page) } }, auditSchema)).logs,
    expire: async (token) => checkExpired(await ask({ route: 'expire', token }, pushSchema)),
    notify: (token, notification) =>
      ask({ route: 'notify', token, body: notification }, notifiedSchema),
    list: (state, page, account) => {
      const of = account === undefined ? {} : { account_id: String(account) };
      return ask({ route: state, query: { page: String(page), ...of } }, pushListSchema);
    },
    accounts: () => ask({ route: 'accounts' }, accountsSchema),
    openFile: async (url, resume) =>
      (await import('./file-link')).openLink(await withToken(settings), url, resume),
  };
}

/** Settings with the token itself. The connection is opened meanwhile if it has to be got. */
async function withToken<T extends ApiSettings>(settings: T): Promise<ReadySettings<T>> {
  const { token, open } = settings;
  if (typeof token !== 'function') return { ...settings, token };
  open?.();
  return { ...settings, token: await token() };
}

/** @throws CliError (failed) for a success whose push has not expired */
function checkExpired(push: Push): Push {
  if (push.expired !== false) return push;
  throw failedError('the instance responded that the push has not expired', {
    hint: 'the secret can still be read; try again, or expire it on its page',
  });
}

/** Settings with the defaults filled in. */
type CompleteSettings = Required<Pick<ApiSettings, 'waiting'>> & ApiSettings;
/** Settings with the token itself. */
type ReadySettings<T extends ApiSettings = ApiSettings> = Omit<T, 'token'> & {
  readonly token: string | undefined;
};

async function send<T>(
  settings: CompleteSettings,
  request: ApiRequest,
  schema: v.GenericSchema<unknown, T>,
): Promise<T> {
  const ready = await withToken(settings);
  const sent = describeRequest(ready, request);
  const answer = await answerTo(ready, request, sent);
  if (answer.status < 200 || answer.status > 299) throw responseError(answer, sent, settings.now());
  const decoded = v.safeParse(schema, parseBody(answer, sent));
  if (decoded.success) return decoded.output;
  throw malformed(answer, sent);
}

async function answerTo(
  settings: ReadySettings<CompleteSettings>,
  request: ApiRequest,
  sent: SentRequest,
): Promise<ApiResponse> {
  try {
    return await call(settings.send, wireRequest(settings, request), {
      ...settings,
      repeatable: sent.repeatable,
      waitOn429: request.route === 'create' || request.route === 'notify',
    });
  } catch (error) {
    if (error instanceof TransportError) throw transportFailure(error, sent);
    throw error instanceof AnswerTooLong ? tooLong(error, sent) : error;
  }
}

function describeRequest(settings: ReadySettings, request: ApiRequest): SentRequest {
  const access = Object.values(settings.headers ?? {});
  const secrets = [settings.token, ...access, ...(request.secrets ?? [])];
  return {
    route: request.route,
    repeatable: allRoutes[request.route].repeatable,
    authenticated: settings.token !== undefined,
    tokenFrom: settings.tokenFrom,
    tokenHint: settings.tokenHint,
    anonymous: settings.anonymous,
    passphrase: request.query?.passphrase !== undefined,
    files: request.form !== undefined,
    headers: Object.keys(settings.headers ?? {}),
    secrets: secrets.filter((secret): secret is string => secret !== undefined),
  };
}

function wireRequest(settings: ReadySettings, request: ApiRequest): HttpRequest {
  const { method, path } = allRoutes[request.route];
  const query = new URLSearchParams(request.query).toString();
  const type = request.form?.type ?? (request.body === undefined ? undefined : 'application/json');
  const address =
    settings.base + API_PATH + path.replace(':token', encodeURIComponent(request.token ?? ''));
  return {
    method,
    url: query === '' ? address : `${address}?${query}`,
    headers: {
      ...settings.headers,
      accept: 'application/json',
      'accept-encoding': 'identity',
      'user-agent': settings.userAgent,
      ...(settings.token === undefined ? {} : { authorization: `Bearer ${settings.token}` }),
      ...(type === undefined ? {} : { 'content-type': type }),
    },
    ...(type === undefined ? {} : { body: request.form ?? JSON.stringify(request.body) }),
  };
}

function parseBody(answer: ApiResponse, sent: SentRequest): unknown {
  try {
    return parseJson(answer.body);
  } catch {
    throw malformed(answer, sent);
  }
}

/**
 * The fields that make an instance e-mail a link.
 * @param quoted whether the error may quote an invalid address: after `push --notify` it may be the secret, meant as [text]
 * @throws CliError (usage) for an invalid address or locale, or too many addresses
 */
export function notification(
  addresses: readonly string[],
  locale: string | undefined,
  quoted = false,
): Notification {
  const all = addresses.flatMap((one) => one.split(',')).map((one) => one.trim());
  const wrong = all.findIndex((one) => !/^[^\s,@<>"\p{C}]+@[^\s,@<>"\p{C}]+$/u.test(one));
  if (wrong !== -1)
    throw quoted
      ? usageError(`"${all[wrong]}" is not an e-mail address`)
      : usageError(
          `e-mail address ${wrong + 1} after --notify is invalid`,
          'every word after --notify is taken as an address, such as ann@example.com',
        );
  const most = limits.notifiedAtOnce;
  if (all.length > most)
    throw usageError(`at most ${most} e-mail addresses are allowed, not ${all.length}`);
  if (locale !== undefined && !/^[a-z]{2,3}(-[a-z0-9]{2,8})*$/i.test(locale))
    throw usageError(`"${locale}" is not a language code`, 'use a code such as de or pt-BR');
  return {
    notify_emails_to: [...new Set(all)].join(','),
    ...(locale === undefined ? {} : { notify_emails_to_locale: locale }),
  };
}
