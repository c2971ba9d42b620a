import { closeSync, openSync, readSync } from 'node:fs';
import * as v from 'valibot';
import { API_PATH } from '../contract/api';
import { versionSchema } from '../contract/decode';
import type { HeaderFields, HttpRequest, Token, Transport } from '../platform/context';
import { phrase } from '../platform/errors';
import { type Call, pushCalls } from './calls';
import type { SentRequest, TokenSource } from './failure';
import type { FormBody } from './form';
import type { FirstSent } from './repeat';
import { type CallRules, call as callOver } from './transport/call';
import { TransportError } from './transport/network-errors';
import { LeavesOrigin } from './transport/redirects';
import {
  isLost,
  isSuccess,
  jsonIn,
  ResponseTooLong,
  type WholeResponse,
} from './transport/response';

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
  /** Seconds for which a request is sent again whose response was lost; 90 if left out. */
  readonly patience?: number | undefined;
  /** Whether the instance does a repetition once; it is asked where that is not known. */
  readonly repeats?: boolean | undefined;
  /** Called before a request is sent again whose response was lost. */
  readonly repeating?: () => void | Promise<void>;
}

/** What a call is sent with. */
export interface CallDetails {
  /** Of the push or request that the path names. */
  readonly token?: string;
  readonly query?: Readonly<Record<string, string>>;
  /** A form without files, or what is sent as JSON. */
  readonly body?: unknown;
  /** A body with files; JSON otherwise. */
  readonly form?: FormBody | undefined;
  readonly secrets?: readonly (string | undefined)[];
  /** Shows that the caller has the key of the push. */
  readonly keyProof?: string | undefined;
}

/** Sends a call and decodes its response, as `sendCall` does with the settings of a client. */
export type Ask = <Schema extends v.GenericSchema>(
  call: Call,
  schema: Schema,
  details?: CallDetails,
) => Promise<v.InferOutput<Schema>>;

/** Settings with the token itself. */
type ReadySettings<T extends ApiSettings = ApiSettings> = Omit<T, 'token'> & {
  readonly token: string | undefined;
};

/** Settings with the token itself. The connection is opened meanwhile if it has to be got. */
export async function withToken<T extends ApiSettings>(settings: T): Promise<ReadySettings<T>> {
  const { token, open } = settings;
  // Not a copy: of many calls, each would make one.
  if (typeof token !== 'function') return settings as ReadySettings<T>;
  open?.();
  return { ...settings, token: await token() };
}

type CompleteSettings = ApiSettings &
  Required<Pick<ApiSettings, 'waiting'>> & {
    /** As `send`, but does not wait for others. */
    readonly sendNow: Transport;
  };

/** What failures mean; 7 KB that a call without one does without. */
const failures = () => import('./failure');

/**
 * Sends a call and decodes its response.
 * @throws CliError for any other outcome; see `explain` and `explainLoss`
 */
export async function sendCall<Schema extends v.GenericSchema>(
  settings: CompleteSettings,
  call: Call,
  schema: Schema,
  details: CallDetails,
): Promise<v.InferOutput<Schema>> {
  const ready = await withToken(settings);
  const response = await responseTo(ready, call, details);
  const decoded = isSuccess(response) ? v.safeParse(schema, jsonIn(response)) : undefined;
  if (decoded?.success) return decoded.output;
  const { explain } = await failures();
  throw explain(response, call, sentRequest(ready, details), settings.now());
}

async function responseTo(
  settings: ReadySettings<CompleteSettings>,
  call: Call,
  details: CallDetails,
): Promise<WholeResponse> {
  try {
    const key = call.once ? await randomKey() : undefined;
    const request = wireRequest(settings, call, details, key);
    const { now, timeout, sleep, waiting } = settings;
    const { repeatable, waitsOn429 } = call;
    const rules = { repeatable, waitsOn429, now, timeout, sleep, waiting };
    return await (call.once
      ? sendOnce(settings, call, request, rules)
      : callOver(settings.send, request, rules));
  } catch (error) {
    if (error instanceof TransportError || error instanceof ResponseTooLong) {
      const { explainLoss } = await failures();
      throw explainLoss(error, call, sentRequest(settings, details));
    }
    if (error instanceof LeavesOrigin && settings.fromLink)
      throw error.withAdvice((base) => phrase('replace-in-link', base, settings.base));
    throw error;
  }
}

/** Sends a request that has an `Idempotency-Key`, again if its response is lost and the instance does it once. */
async function sendOnce(
  settings: ReadySettings<CompleteSettings>,
  call: Call,
  request: HttpRequest,
  rules: CallRules,
): Promise<WholeResponse> {
  const send = () => callOver(settings.send, request, rules);
  const began = settings.now().getTime();
  let outcome: WholeResponse | TransportError;
  try {
    outcome = await send();
    // A service that has lost its database does not know whether it took a view.
    const isOpen = isLost(outcome.status) || (outcome.status === 503 && call.holds === 'secret');
    if (!isOpen) return outcome;
  } catch (error) {
    if (!(error instanceof TransportError && error.sent) || error.foreign) throw error;
    outcome = error;
  }
  const sent = { began, holds: call.holds, hasFiles: typeof request.body === 'object' };
  // After a wait that a 429 asks for, also to another request, it could be too late.
  const again = () => callOver(settings.sendNow, request, { ...rules, waitsOn429: false });
  const response = settings.repeats === false ? undefined : await sendAgain(settings, again, sent);
  if (response) return response;
  if (outcome instanceof TransportError) throw outcome;
  return outcome;
}

async function sendAgain(
  settings: ReadySettings<CompleteSettings>,
  send: () => Promise<WholeResponse>,
  sent: FirstSent,
): Promise<WholeResponse | undefined> {
  const { repeat, untilWhen } = await import('./repeat');
  const { now, sleep, patience, repeats = false, repeating = () => {} } = settings;
  const limits = untilWhen(sent, now().getTime(), patience);
  if (!limits) return undefined;
  const features = async () =>
    (await sendCall(settings, pushCalls.version, versionSchema, {})).features?.pushes;
  return repeat({ ...limits, send, features, repeats, now, sleep, repeating });
}

function sentRequest(settings: ReadySettings, details: CallDetails): SentRequest {
  const { token, headers = {}, tokenFrom, tokenHint, anonymous } = settings;
  const { keyProof } = details;
  const secrets = [token, keyProof, ...Object.values(headers), ...(details.secrets ?? [])];
  return {
    ...{ tokenFrom, tokenHint, anonymous },
    authenticated: token !== undefined,
    passphrase: details.query?.passphrase !== undefined || details.body instanceof URLSearchParams,
    proved: details.keyProof !== undefined,
    files: details.form !== undefined,
    headers: Object.keys(headers),
    secrets: secrets.filter((secret) => secret !== undefined),
  };
}

function wireRequest(
  settings: ReadySettings,
  call: Call,
  details: CallDetails,
  key: string | undefined,
): HttpRequest {
  const { token = '', body, form } = details;
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
  // A string of RFC 8941, as draft-ietf-httpapi-idempotency-key-header has it.
  if (details.keyProof !== undefined) headers['x-key-proof'] = details.keyProof;
  if (key !== undefined) headers['idempotency-key'] = `"${key}"`;
  const text = isForm ? body.toString() : JSON.stringify(body);
  return {
    method: call.method,
    url: root + call.path.replace(':token', encodeURIComponent(token)) + query,
    headers,
    effect: call.method !== 'GET' || !call.repeatable,
    body: form ?? text,
  };
}

const BYTES = 16;
/** For as many keys at once as a batch has. */
const POOL = 256 * BYTES;

let pool: Buffer = Buffer.alloc(0);

/** 128 random bits in base64url. Of the system's file, where it has one: `node:crypto` takes 2 ms to load. */
async function randomKey(): Promise<string> {
  if (pool.length === 0) pool = ofSystem() ?? (await import('node:crypto')).randomBytes(POOL);
  const key = pool.toString('base64url', 0, BYTES);
  pool = pool.subarray(BYTES);
  return key;
}

function ofSystem(): Buffer | undefined {
  try {
    const file = openSync('/dev/urandom', 'r');
    const bytes = Buffer.alloc(POOL);
    const read = readSync(file, bytes, 0, POOL, null);
    closeSync(file);
    return read === POOL ? bytes : undefined;
  } catch {
    return undefined;
  }
}
