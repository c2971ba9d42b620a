import { closeSync, openSync, readSync } from 'node:fs';
import * as v from 'valibot';
import {
  API_PATH,
  EXCHANGE,
  hasFeature,
  type NewPush,
  type NewRequest,
  type RequestState,
} from '../contract/api';
import * as decode from '../contract/decode';
import { orUndefined } from '../contract/or-undefined';
import type { HttpRequest, Transport } from '../platform/context';
import { attempt, CliError, failedError, phrase } from '../platform/errors';
import type { Answer, ApiSettings, CallDetails, ReadySettings, SentCall } from './api-settings';
import {
  accountsCall,
  type Call,
  exchangeCall,
  isEmpty,
  pageCall,
  pushCalls,
  requestCalls,
} from './calls';
import type { Begun, FileResponse, Resume } from './file-link';
import type { Attachment } from './form';
import { sharedBackoff } from './retry';
import { follow, withinOrigin } from './transport/redirects';
import { isSuccess, jsonBody, readWhole } from './transport/response';

/** One method per endpoint of API v2, each of which throws a `CliError`. */
export type Api = ReturnType<typeof apiClient>;

export function apiClient(options: ApiSettings) {
  const { waiting = () => {} } = options;
  const shared = sharedBackoff({ ...options, waiting });
  const settings = { ...options, ...shared, sendNow: options.send };
  const ask: Ask = (call, schema, details = {}) => sendCall(settings, call, schema, details);
  return {
    version: () => ask(pushCalls.version, decode.versionSchema),
    create: async (push: NewPush, files?: readonly Attachment[], account?: number) =>
      ask(pushCalls.create, decode.createdSchema, await bodyOf({ push }, files, account)),
    /** Uses a view. An expired push is returned, too, with `expired: true`. */
    retrieve: async (
      token: string,
      passphrase?: string,
      reader?: Pick<CallDetails, 'keyProof' | 'withoutIdentity'>,
    ) => {
      const sent = { token, ...reader };
      const details = { ...sent, ...withPassphrase(passphrase) };
      const outcome = await attempt(() => ask(pushCalls.retrieve, decode.retrievedSchema, details));
      if (!(outcome instanceof CliError)) return outcome;
      if (outcome.code !== 'unauthorized' || settings.token !== undefined) throw outcome;
      // The refusal used no view. The page of `pwpush serve` returns a push without a token, whatever the API requires.
      const version = await ask(pushCalls.version, decode.versionSchema).catch(() => undefined);
      if (version?.features?.anonymous_access !== false) throw outcome;
      // The pages of other instances are for browsers.
      if (!hasFeature(version.features.pushes, 'json_pages'))
        throw outcome.advising(phrase('open-in-browser'));
      if (passphrase === undefined) return ask(pageCall, decode.retrievedSchema, sent);
      const body = new URLSearchParams({ passphrase });
      return ask(pageCall, decode.retrievedSchema, { ...sent, body, secrets: [passphrase] });
    },
    ...ofBoth(ask, pushCalls),
    expire: async (token: string, passphrase?: string, keyProof?: string) => {
      const details = { token, keyProof, ...withPassphrase(passphrase) };
      const push = await ask(pushCalls.expire, decode.pushSchema, details);
      if (push.expired !== false) return push;
      throw failedError(phrase('push-not-expired'), { hints: phrase('expire-again') });
    },
    /** Returns a page of the user's pushes or of an account's, in the instance's order; `[]` after the last. */
    list: (state: 'active' | 'expired', page: number, account?: number) =>
      ask(pushCalls[state], decode.pushListSchema, ofPage(page, account)),
    accounts: () => ask(accountsCall, decode.accountsSchema),
    /** Exchanges an identity token for a token of the instance (RFC 8693, 2). */
    exchange: (identity: string) => {
      const body = new URLSearchParams({
        grant_type: EXCHANGE.grantType,
        subject_token: identity,
        subject_token_type: EXCHANGE.jwt,
      });
      return ask(exchangeCall, decode.exchangedSchema, { body, secrets: [identity] });
    },
    /** Opens the link of a file without using a view. Throws a `TransportError` when the connection breaks. */
    openFile: async (url: string, resume?: Resume, begun?: Begun): Promise<FileResponse> =>
      (await import('./file-link')).openLink(await withToken(settings), url, resume, begun),
    requests: requestApi(ask),
  };
}

type Ask = <Schema extends v.GenericSchema>(
  call: Call,
  schema: () => Schema,
  details?: CallDetails,
) => Promise<v.InferOutput<Schema>>;

function ofBoth(ask: Ask, calls: typeof pushCalls | typeof requestCalls) {
  return {
    /** Returns the link for people, without using a view. */
    preview: (token: string) => ask(calls.preview, decode.previewSchema, { token }),
    /** Returns a page of the log, in the instance's order; `[]` after the last. Requires the owner's token. */
    audit: async (token: string, page: number) =>
      (await ask(calls.audit, decode.auditSchema, { token, ...ofPage(page) })).logs,
  };
}

export type RequestApi = ReturnType<typeof requestApi>;

interface RequestAnswer {
  readonly response?: string | undefined;
  readonly files?: readonly Attachment[] | undefined;
  readonly passphrase?: string | undefined;
}

function requestApi(ask: Ask) {
  return {
    create: async (request: NewRequest, files?: readonly Attachment[], account?: number) =>
      ask(
        requestCalls.create,
        decode.createdRequestSchema,
        await bodyOf({ request }, files, account),
      ),
    /** Takes the answer if the caller is the owner of the request. Others get the question. */
    read: (token: string, passphrase?: string) =>
      ask(requestCalls.read, decode.requestSchema, { token, ...withPassphrase(passphrase) }),
    ...ofBoth(ask, requestCalls),
    respond: async (token: string, { response, files, passphrase }: RequestAnswer) => {
      const body = await bodyOf({ request: { response } }, files);
      const details = { token, ...withPassphrase(passphrase), ...body };
      const request = await ask(requestCalls.respond, decode.answeredSchema, details);
      if (request.state !== 'open') return request;
      throw failedError(phrase('request-still-open'), { hints: phrase('was-lost') });
    },
    close: async (token: string) => {
      const request = await ask(requestCalls.close, decode.requestSchema, { token });
      if (request.state !== 'open' && request.state !== 'ready') return request;
      throw failedError(phrase('request-not-closed'), { hints: phrase('close-again') });
    },
    list: (state: RequestState, page: number, account?: number) =>
      ask(requestCalls[state], decode.requestListSchema, ofPage(page, account)),
  };
}

function ofPage(page: number, account?: number): CallDetails {
  const of = account === undefined ? {} : { account_id: String(account) };
  return { query: { page: String(page), ...of } };
}

function withPassphrase(passphrase: string | undefined): CallDetails {
  return passphrase === undefined ? {} : { query: { passphrase } };
}

type Confidential = Partial<
  Record<'payload' | 'response' | 'passphrase' | 'note', string | undefined>
>;

/** Returns a JSON body, or a form if there are files. The account is a field next to the object. */
async function bodyOf(
  body:
    | { readonly push: NewPush }
    | { readonly request: NewRequest | Pick<RequestAnswer, 'response'> },
  files: readonly Attachment[] = [],
  account?: number,
): Promise<CallDetails> {
  const object: Confidential = 'push' in body ? body.push : body.request;
  const secrets = [object.payload, object.response, object.passphrase, object.note];
  const beside = account === undefined ? {} : { account_id: account };
  if (files.length === 0) return { body: { ...body, ...beside }, secrets };
  const { formBody } = await import('./form');
  return { form: formBody(body, files, undefined, beside), secrets };
}

type Settings = ApiSettings & Pick<ReadySettings, 'sendNow'>;

/**
 * Opens the connection while the token is read, which saves time.
 * @param refused a token that the instance does not accept any more
 */
async function withToken(settings: Settings, refused?: string): Promise<ReadySettings> {
  const { token, open } = settings;
  if (token === undefined || typeof token === 'string') return settings as ReadySettings;
  open?.();
  const read = typeof token === 'function' ? token() : token.current(settings, refused);
  return { ...settings, token: await read };
}

async function sendCall<Schema extends v.GenericSchema>(
  unready: Settings,
  call: Call,
  schema: () => Schema,
  details: CallDetails,
): Promise<v.InferOutput<Schema>> {
  const settings = await withToken(unready);
  const { keyedFor } = call.retry;
  const nextKey = keyedFor === undefined ? undefined : (await keys.next()).value;
  const { idempotencyKey = nextKey } = details;
  const sent = { settings, call, details: { ...details, idempotencyKey } };
  const request = wireRequest(sent);
  const send = (over = settings.send) => answerTo(request, over, schema, settings);
  const began = settings.now().getTime();
  const first = await send();
  if (first.value !== undefined && !isEmpty(call, first.value)) return first.value;
  const version = (asked: Call) =>
    sendCall(settings, asked, decode.versionSchema, { idempotencyKey });
  // A call that succeeds at once does not need these 12 KB.
  const { outcomeAfter } = await import('./repeat');
  return outcomeAfter(first, { ...sent, began, send, version }).catch(async (error) => {
    const isRefused = error instanceof CliError && error.code === 'unauthorized';
    if (!isRefused || typeof unready.token !== 'object') throw error;
    // The key stays: before the token ended, a request may have been done whose response was lost.
    return sendCall(await withToken(unready, settings.token), call, schema, sent.details);
  });
}

async function answerTo<Schema extends v.GenericSchema>(
  request: HttpRequest,
  over: Transport,
  schema: () => Schema,
  settings: ReadySettings,
): Promise<Answer<v.InferOutput<Schema>>> {
  try {
    const response = await readWhole(
      await follow(over, request, withinOrigin),
      request.url,
      settings,
    );
    const decoded = isSuccess(response) ? v.safeParse(schema(), jsonBody(response)) : undefined;
    return { response, value: decoded?.success ? decoded.output : undefined };
  } catch (error) {
    if (error instanceof CliError) return { error };
    throw error;
  }
}

function wireRequest({ settings, call, details }: SentCall): HttpRequest {
  const { token = '', body, form, idempotencyKey } = details;
  const query = details.query ? `?${new URLSearchParams(details.query)}` : '';
  const isForm = body instanceof URLSearchParams;
  const ownType = isForm ? 'application/x-www-form-urlencoded' : 'application/json';
  const type = form?.type ?? (body === undefined ? undefined : ownType);
  const root = settings.base + (call.atPage ? '' : API_PATH);
  const headers: Record<string, string> = {
    ...settings.headers,
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': settings.userAgent,
  };
  if (settings.token !== undefined) headers.authorization = `Bearer ${settings.token}`;
  if (type !== undefined) headers['content-type'] = type;
  if (details.keyProof !== undefined) headers['x-key-proof'] = details.keyProof;
  if (details.withoutIdentity) headers['x-age-identity'] = 'none';
  // The key is a string of RFC 8941 (draft-ietf-httpapi-idempotency-key-header).
  if (idempotencyKey !== undefined) headers['idempotency-key'] = `"${idempotencyKey}"`;
  const text = isForm ? body.toString() : JSON.stringify(body);
  return {
    method: call.method,
    url: root + call.path.replace(':token', encodeURIComponent(token)) + query,
    headers,
    effect: call.method !== 'GET' || call.retry.resent === undefined,
    body: form ?? text,
  };
}

const KEY_BYTES = 16;
/** For the keys of a hundred calls, which a run may make. */
const READ_BYTES = 100 * KEY_BYTES;

/**
 * Yields 128 random bits each time, in base64url, from `/dev/urandom` where it exists: `node:crypto` reads the same generator,
 * but takes 2 ms to load, and most calls of an instance need nothing else of it.
 */
async function* randomKeys(): AsyncGenerator<string, never> {
  for (;;) {
    const bytes = systemBytes() ?? (await import('node:crypto')).randomBytes(READ_BYTES);
    for (let at = 0; at < READ_BYTES; at += KEY_BYTES)
      yield bytes.toString('base64url', at, at + KEY_BYTES);
  }
}

const keys = randomKeys();

function systemBytes(): Buffer | undefined {
  return orUndefined(() => {
    const file = openSync('/dev/urandom', 'r');
    const bytes = Buffer.alloc(READ_BYTES);
    const read = readSync(file, bytes);
    closeSync(file);
    return read === READ_BYTES ? bytes : undefined;
  });
}
