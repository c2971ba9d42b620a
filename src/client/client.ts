import * as v from 'valibot';
import {
  type Account,
  API_PATH,
  type AuditEntry,
  commercialRoutes,
  type InstanceVersion,
  limits,
  type NewPush,
  type NewRequest,
  type Notification,
  type Notified,
  type Preview,
  type Push,
  type Route,
  requestRoutes,
  routes,
  type SecretRequest,
} from '../contract/api';
import {
  accountsSchema,
  answeredSchema,
  auditSchema,
  createdRequestSchema,
  createdSchema,
  notifiedSchema,
  previewSchema,
  pushListSchema,
  pushSchema,
  requestListSchema,
  requestSchema,
  retrievedSchema,
  versionSchema,
} from '../contract/decode';
import { parseJson } from '../contract/json';
import type { HeaderFields, HttpRequest, Token, Transport } from '../platform/context';
import { failedError, usageError } from '../platform/errors';
import {
  type CallName,
  malformed,
  responseError,
  type SentRequest,
  type TokenSource,
  tooLong,
  transportFailure,
} from './failure';
import type { Begun, FileResponse, Resume } from './file-link';
import type { Attachment, FormBody } from './form';
import {
  AnswerTooLong,
  type ApiResponse,
  call,
  LeavesOrigin,
  sharedBackoff,
} from './transport/call';
import { TransportError } from './transport/network-errors';

export interface ApiSettings extends TokenSource {
  /** The instance's base address, without a final slash. */
  readonly base: string;
  /** The base address is that of a link. */
  readonly fromLink?: boolean | undefined;
  readonly token?: Token | undefined;
  /** Begins to connect to the instance, while the token is being got. */
  readonly open?: (() => void) | undefined;
  /** Of the user, for a proxy in front of the instance; sent with the token, to the instance's origin only. */
  readonly headers?: HeaderFields | undefined;
  readonly userAgent: string;
  readonly send: Transport;
  readonly now: () => Date;
  /** Seconds between two pieces of a response. */
  readonly timeout?: number | undefined;
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
  openFile(url: string, resume?: Resume, begun?: Begun): Promise<FileResponse>;
  readonly requests: RequestApi;
}

export type RequestState = 'open' | 'ready' | 'closed';

/** Requests to somebody for a secret (docs/wire.md, "Requests"). All methods throw a `CliError`. */
export interface RequestApi {
  /** Never sent twice. The files go with the question. */
  create(
    request: NewRequest,
    files?: readonly Attachment[],
    account?: number,
  ): Promise<SecretRequest>;
  /** Anybody gets the question; the owner takes the answer, so that it is never sent twice. */
  read(token: string, passphrase?: string): Promise<SecretRequest>;
  /** The link for a browser. */
  preview(token: string): Promise<Preview>;
  /** Never sent twice, as the first answer is the only one. */
  respond(token: string, answer: Answer): Promise<SecretRequest>;
  close(token: string): Promise<SecretRequest>;
  /** A page of the log, in the instance's order; `[]` after the last. Needs the owner's token. */
  audit(token: string, page: number): Promise<AuditEntry[]>;
  /** A page of the user's requests, or of those of an account, in the instance's order; `[]` after the last. */
  list(state: RequestState, page: number, account?: number): Promise<SecretRequest[]>;
}

/** An answer to a request. */
export interface Answer {
  readonly response?: string | undefined;
  readonly files?: readonly Attachment[] | undefined;
  /** Of the request. */
  readonly passphrase?: string | undefined;
}

interface ApiRequest {
  readonly call: CallName;
  readonly route: Route;
  /** What it is about. */
  readonly noun: 'push' | 'request';
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
  const asker: Asker = (request, schema) => send(settings, request, schema);
  const ask = <T>(
    call: keyof typeof routes,
    schema: v.GenericSchema<unknown, T>,
    details: Details = {},
  ) => asker({ call, route: routes[call], noun: 'push', ...details }, schema);
  return {
    version: () => ask('version', versionSchema),
    create: async (push, files, account) => {
      const secrets = [push.payload, push.passphrase, push.note];
      const body = await bodyOf({ push }, files, beside(account));
      return ask('create', createdSchema, { ...body, secrets });
    },
    retrieve: (token, passphrase) =>
      ask('retrieve', retrievedSchema, { token, ...withPassphrase(passphrase) }),
    preview: (token) => ask('preview', previewSchema, { token }),
    audit: async (token, page) => (await ask('audit', auditSchema, { token, ...at(page) })).logs,
    expire: async (token) => checkExpired(await ask('expire', pushSchema, { token })),
    notify: (token, body) => ask('notify', notifiedSchema, { token, body }),
    list: (state, page, account) => ask(state, pushListSchema, at(page, account)),
    accounts: () =>
      asker({ call: 'accounts', route: commercialRoutes.accounts, noun: 'push' }, accountsSchema),
    openFile: async (url, resume, begun) =>
      (await import('./file-link')).openLink(await withToken(settings), url, resume, begun),
    requests: requestApi(asker),
  };
}

type Asker = <T>(request: ApiRequest, schema: v.GenericSchema<unknown, T>) => Promise<T>;
type Details = Omit<ApiRequest, 'call' | 'route' | 'noun'>;

/** What the calls of requests are for pushes: failures of both read alike. */
const requestCalls = {
  create: 'create',
  read: 'retrieve',
  preview: 'preview',
  respond: 'respond',
  audit: 'audit',
  close: 'expire',
  open: 'active',
  ready: 'active',
  closed: 'active',
} as const satisfies Partial<Record<keyof typeof requestRoutes, CallName>>;

function requestApi(asker: Asker): RequestApi {
  const ask = <T>(
    name: keyof typeof requestCalls,
    schema: v.GenericSchema<unknown, T>,
    details: Details,
  ) =>
    asker(
      { call: requestCalls[name], route: requestRoutes[name], noun: 'request', ...details },
      schema,
    );
  return {
    create: async (request, files, account) => {
      const secrets = [request.passphrase, request.note];
      const body = await bodyOf({ request }, files, beside(account));
      return ask('create', createdRequestSchema, { ...body, secrets });
    },
    read: (token, passphrase) =>
      ask('read', requestSchema, { token, ...withPassphrase(passphrase) }),
    preview: (token) => ask('preview', previewSchema, { token }),
    respond: async (token, { response, files, passphrase }) => {
      const body = await bodyOf({ request: { response } }, files);
      const secrets = [response, passphrase];
      const query = withPassphrase(passphrase);
      return checkAnswered(
        await ask('respond', answeredSchema, { token, ...query, ...body, secrets }),
      );
    },
    close: async (token) => checkClosed(await ask('close', requestSchema, { token })),
    audit: async (token, page) => (await ask('audit', auditSchema, { token, ...at(page) })).logs,
    list: (state, page, account) => ask(state, requestListSchema, at(page, account)),
  };
}

function at(page: number, account?: number): Details {
  const of = account === undefined ? {} : { account_id: String(account) };
  return { query: { page: String(page), ...of } };
}

/** The fields next to a new push or request. */
function beside(account: number | undefined): { readonly account_id?: number } {
  return account === undefined ? {} : { account_id: account };
}

function withPassphrase(passphrase: string | undefined): Details {
  return passphrase === undefined ? {} : { query: { passphrase }, secrets: [passphrase] };
}

/**
 * JSON, or a form if there are files.
 * @param others fields next to the object
 */
async function bodyOf(
  body: { push: NewPush } | { request: object },
  files: readonly Attachment[] = [],
  others: { readonly account_id?: number } = {},
): Promise<Details> {
  if (files.length === 0) return { body: { ...body, ...others } };
  const { formBody } = await import('./form');
  return { form: formBody(body, files, undefined, others) };
}

/** @throws CliError (failed) for a success whose request is still open */
function checkAnswered(request: SecretRequest): SecretRequest {
  if (request.state !== 'open') return request;
  throw failedError('the instance responded that the request is still open', {
    hint: 'the answer may be lost: ask the person who requested it',
  });
}

/** @throws CliError (failed) for a success whose request is not closed */
function checkClosed(request: SecretRequest): SecretRequest {
  if (request.state !== 'open' && request.state !== 'ready') return request;
  throw failedError('the instance responded that the request is not closed', {
    hint: 'it can still be answered or read; try again',
  });
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
      waitOn429: ['create', 'notify', 'respond'].includes(request.call),
    });
  } catch (error) {
    if (error instanceof TransportError) throw transportFailure(error, sent);
    if (error instanceof LeavesOrigin && settings.fromLink)
      throw error.advising((base) => `put ${base} in place of ${settings.base} in the link`);
    throw error instanceof AnswerTooLong ? tooLong(error, sent) : error;
  }
}

function describeRequest(settings: ReadySettings, request: ApiRequest): SentRequest {
  const access = Object.values(settings.headers ?? {});
  const secrets = [settings.token, ...access, ...(request.secrets ?? [])];
  return {
    call: request.call,
    noun: request.noun,
    repeatable: request.route.repeatable,
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
  const { method, path } = request.route;
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
    effect: method !== 'GET' || !request.route.repeatable,
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
