import type { NewPush, NewRequest, Notification } from '../contract/api';
import {
  type AuditEntry,
  accountsSchema,
  answeredSchema,
  auditSchema,
  createdRequestSchema,
  createdSchema,
  type InstanceVersion,
  type Notified,
  notifiedSchema,
  type Preview,
  type Push,
  previewSchema,
  pushListSchema,
  pushSchema,
  requestListSchema,
  requestSchema,
  retrievedSchema,
  type SecretRequest,
  versionSchema,
} from '../contract/decode';
import { attempt, CliError, failedError } from '../platform/errors';
import { accountsCall, pushCalls, requestCalls } from './calls';
import type { Begun, FileResponse, Resume } from './file-link';
import type { Attachment } from './form';
import { type ApiSettings, type Ask, type CallDetails, sendCall, withToken } from './send-call';
import { sharedBackoff } from './transport/call';

/** One method per endpoint of API v2. All throw a `CliError`. */
export interface Api {
  version(): Promise<InstanceVersion>;
  /**
   * Never sent twice, as this would create two pushes. Files are read while they are sent.
   * @param account the id of an account of the commercial edition
   */
  create(push: NewPush, files?: readonly Attachment[], account?: number): Promise<Push>;
  /**
   * Takes a view; never sent twice. Also returns an expired push, with `expired: true`.
   * @param keyProof shows that the caller has the key of an encrypted push (docs/encryption.md, "Proof of the key")
   */
  retrieve(token: string, passphrase?: string, keyProof?: string): Promise<Push>;
  /** The link for a browser; takes no view. */
  preview(token: string): Promise<Preview>;
  /** A page of the log, in the instance's order; `[]` after the last. Needs the owner's token. */
  audit(token: string, page: number): Promise<AuditEntry[]>;
  expire(token: string): Promise<Push>;
  /** Makes the instance e-mail the link; never sent twice. */
  notify(token: string, notification: Notification): Promise<Notified>;
  /** A page of the user's pushes, or of those of an account, in the instance's order; `[]` after the last. */
  list(state: 'active' | 'expired', page: number, account?: number): Promise<Push[]>;
  /** The accounts of the user, which the commercial edition alone has. */
  accounts(): Promise<unknown>;
  /** Opens the `url` of a push's file; takes no view. Also throws a `TransportError`, when the connection breaks. */
  openFile(url: string, resume?: Resume, begun?: Begun): Promise<FileResponse>;
  readonly requests: RequestApi;
}

export type RequestState = 'open' | 'ready' | 'closed';

/** Requests to someone for a secret (docs/wire.md, "Requests"). All methods throw a `CliError`. */
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

export function apiClient(options: ApiSettings): Api {
  const { waiting = () => {} } = options;
  const shared = sharedBackoff({ ...options, waiting });
  const settings = { ...options, ...shared, sendNow: options.send };
  const ask: Ask = (call, schema, details = {}) => sendCall(settings, call, schema, details);
  return {
    version: () => ask(pushCalls.version, versionSchema),
    create: async (push, files, account) => {
      const body = await bodyOf({ push }, files, account);
      return ask(pushCalls.create, createdSchema, { ...body, secrets: secretsIn(push) });
    },
    retrieve: async (token, passphrase, keyProof) => {
      const details = { token, keyProof, ...withPassphrase(passphrase) };
      const outcome = await attempt(() => ask(pushCalls.retrieve, retrievedSchema, details));
      if (!(outcome instanceof CliError)) return outcome;
      if (outcome.code !== 'unauthorized' || settings.token !== undefined) throw outcome;
      const { retrieveAtPage } = await import('./link-page');
      return retrieveAtPage(ask, outcome, token, passphrase, keyProof);
    },
    preview: (token) => ask(pushCalls.preview, previewSchema, { token }),
    audit: async (token, page) =>
      (await ask(pushCalls.audit, auditSchema, { token, ...at(page) })).logs,
    expire: async (token) => checkExpired(await ask(pushCalls.expire, pushSchema, { token })),
    notify: (token, body) => ask(pushCalls.notify, notifiedSchema, { token, body }),
    list: (state, page, account) => ask(pushCalls[state], pushListSchema, at(page, account)),
    accounts: () => ask(accountsCall, accountsSchema),
    openFile: async (url, resume, begun) =>
      (await import('./file-link')).openLink(await withToken(settings), url, resume, begun),
    requests: requestApi(ask),
  };
}

/** Secrets of a new push, which no message repeats. */
function secretsIn({ payload, passphrase, note }: NewPush): string[] {
  return [payload, passphrase, note].filter((one) => one !== undefined);
}

function requestApi(ask: Ask): RequestApi {
  return {
    create: async (request, files, account) => {
      const secrets = [request.passphrase, request.note];
      const body = await bodyOf({ request }, files, account);
      return ask(requestCalls.create, createdRequestSchema, { ...body, secrets });
    },
    read: (token, passphrase) =>
      ask(requestCalls.read, requestSchema, { token, ...withPassphrase(passphrase) }),
    preview: (token) => ask(requestCalls.preview, previewSchema, { token }),
    respond: async (token, { response, files, passphrase }) => {
      const body = await bodyOf({ request: { response } }, files);
      const secrets = [response, passphrase];
      const details = { token, ...withPassphrase(passphrase), ...body, secrets };
      return checkAnswered(await ask(requestCalls.respond, answeredSchema, details));
    },
    close: async (token) => checkClosed(await ask(requestCalls.close, requestSchema, { token })),
    audit: async (token, page) =>
      (await ask(requestCalls.audit, auditSchema, { token, ...at(page) })).logs,
    list: (state, page, account) => ask(requestCalls[state], requestListSchema, at(page, account)),
  };
}

function at(page: number, account?: number): CallDetails {
  const of = account === undefined ? {} : { account_id: String(account) };
  return { query: { page: String(page), ...of } };
}

function withPassphrase(passphrase: string | undefined): CallDetails {
  return passphrase === undefined ? {} : { query: { passphrase }, secrets: [passphrase] };
}

/** JSON, or a form if there are files; the account is a field next to the object. */
async function bodyOf(
  body: { push: NewPush } | { request: object },
  files: readonly Attachment[] = [],
  account?: number,
): Promise<CallDetails> {
  const beside = account === undefined ? {} : { account_id: account };
  if (files.length === 0) return { body: { ...body, ...beside } };
  const { formBody } = await import('./form');
  return { form: formBody(body, files, undefined, beside) };
}

// A success whose body says that the call had no effect.

/** @throws CliError (failed) for a push that has not expired */
function checkExpired(push: Push): Push {
  if (push.expired !== false) return push;
  throw failedError('the instance responded that the push has not expired', {
    hint: 'the secret can still be read; try again, or expire it on its page',
  });
}

/** @throws CliError (failed) for a request that is still open */
function checkAnswered(request: SecretRequest): SecretRequest {
  if (request.state !== 'open') return request;
  throw failedError('the instance responded that the request is still open', {
    hint: 'the answer may be lost: ask the person who requested it',
  });
}

/** @throws CliError (failed) for a request that is not closed */
function checkClosed(request: SecretRequest): SecretRequest {
  if (request.state !== 'open' && request.state !== 'ready') return request;
  throw failedError('the instance responded that the request is not closed', {
    hint: 'it can still be answered or read; try again',
  });
}
