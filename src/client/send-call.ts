import { closeSync, openSync, readSync } from 'node:fs';
import * as v from 'valibot';
import { API_PATH } from '../contract/api';
import { versionSchema } from '../contract/decode';
import type { HeaderFields, HttpRequest, Token, Transport } from '../platform/context';
import { phrase, type Step } from '../platform/errors';
import { type Call, pushCalls } from './calls';
import type { SentRequest, TokenSource } from './failure';
import type { FormBody } from './form';
import type { FirstSent } from './repeat';
import { type CallRules, call as callOver } from './transport/call';
import { TransportError } from './transport/network-errors';
import { LeavesOrigin } from './transport/redirects';
import { isSuccess, jsonIn, ResponseTooLong, type WholeResponse } from './transport/response';

export interface ApiSettings extends TokenSource {
  /** The instance's base address, without a final slash. */
  readonly base: string;
  /** Where the base address is from, for the message when it cannot be reached. */
  readonly addressHint?: Step | undefined;
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

export interface CallDetails {
  /** Of the push or request that the path names. */
  readonly token?: string;
  readonly query?: Readonly<Record<string, string>>;
  /** A form without files, or what is sent as JSON. */
  readonly body?: unknown;
  /** A body with files; JSON otherwise. */
  readonly form?: FormBody | undefined;
  readonly secrets?: readonly (string | undefined)[];
  /** Shows that the caller has the key of the push (docs/encryption.md, "Proof of the key"). */
  readonly keyProof?: string | undefined;
  /** The caller has no private key: our service does not give them a push to public keys. */
  readonly withoutIdentity?: boolean | undefined;
  /** The `Idempotency-Key`; one is made for a call that is done once. */
  readonly key?: string | undefined;
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

/** A response, with what it holds if it is a success of the form that its call has. */
interface Answer<Schema extends v.GenericSchema> {
  readonly response: WholeResponse;
  readonly decoded?: v.SafeParseResult<Schema> | undefined;
}

type Send<Schema extends v.GenericSchema> = (
  over: Transport,
  rules?: Partial<CallRules>,
) => Promise<Answer<Schema>>;

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
  const { response, decoded } = await answerTo(ready, call, schema, details);
  if (decoded?.success) return decoded.output;
  const { explain } = await failures();
  throw explain(response, call, sentRequest(ready, details), settings.now());
}

async function answerTo<Schema extends v.GenericSchema>(
  settings: ReadySettings<CompleteSettings>,
  call: Call,
  schema: Schema,
  details: CallDetails,
): Promise<Answer<Schema>> {
  try {
    const key = call.once ? await randomKey() : details.key;
    const request = wireRequest(settings, call, { ...details, key });
    const { now, timeout, sleep, waiting } = settings;
    const { repeatable, waitsOn429 } = call;
    const usual = { repeatable, waitsOn429, now, timeout, sleep, waiting };
    const send: Send<Schema> = async (over, rules) => {
      const response = await callOver(over, request, { ...usual, ...rules });
      return {
        response,
        decoded: isSuccess(response) ? v.safeParse(schema, jsonIn(response)) : undefined,
      };
    };
    const hasFiles = typeof request.body === 'object';
    return call.once && key !== undefined
      ? await sendOnce(settings, call, send, { key, hasFiles })
      : await sendHarmless(settings, call, send);
  } catch (error) {
    if (isLoss(error)) {
      const { explainLoss } = await failures();
      throw explainLoss(error, call, sentRequest(settings, details));
    }
    if (error instanceof LeavesOrigin && settings.fromLink)
      throw error.withAdvice((base) => phrase('replace-in-link', base, settings.base));
    throw error;
  }
}

function isLoss(error: unknown): error is TransportError | ResponseTooLong {
  return error instanceof TransportError || error instanceof ResponseTooLong;
}

/** Sends a request without an `Idempotency-Key`; again, if it ends something and its response is lost. */
async function sendHarmless<Schema extends v.GenericSchema>(
  { send: over }: CompleteSettings,
  call: Call,
  send: Send<Schema>,
): Promise<Answer<Schema>> {
  const first = await send(over);
  if (!call.ends || !(await isOpen(first, call))) return first;
  return send(over, { repeatable: false, waitsOn429: false }).catch((error) => {
    if (isLoss(error)) return first;
    throw error;
  });
}

async function isOpen<Schema extends v.GenericSchema>(
  { response, decoded }: Answer<Schema>,
  call: Call,
): Promise<boolean> {
  return !decoded?.success && (await import('./outcome')).leavesOpen(response, call);
}

/** Sends a request that has an `Idempotency-Key`, again if its response is lost and the instance does it once. */
async function sendOnce<Schema extends v.GenericSchema>(
  settings: ReadySettings<CompleteSettings>,
  call: Call,
  send: Send<Schema>,
  request: Pick<FirstSent, 'key' | 'hasFiles'>,
): Promise<Answer<Schema>> {
  const began = settings.now().getTime();
  let first: Answer<Schema> | TransportError | ResponseTooLong;
  try {
    first = await send(settings.send);
    if (!(await isOpen(first, call))) return first;
  } catch (error) {
    if (!isLoss(error)) throw error;
    if (error instanceof TransportError && (!error.sent || error.foreign)) throw error;
    first = error;
  }
  const sent = { began, holds: call.holds, ...request };
  const again = settings.repeats === false ? undefined : await sendAgain(settings, send, sent);
  if (first instanceof Error) {
    if (again) return again;
    throw first;
  }
  // Of a secret, a part is not given up for a refusal.
  const isPart = call.holds === 'secret' && isSuccess(first.response);
  return again && (again.decoded?.success || !isPart) ? again : first;
}

async function sendAgain<Schema extends v.GenericSchema>(
  settings: ReadySettings<CompleteSettings>,
  send: Send<Schema>,
  sent: FirstSent,
): Promise<Answer<Schema> | undefined> {
  const [{ repeat, untilWhen }, { isRefusal }] = await Promise.all([
    import('./repeat'),
    import('./outcome'),
  ]);
  const { now, sleep, patience, repeats = false, repeating = () => {}, sendNow } = settings;
  const limits = untilWhen(sent, now().getTime(), patience);
  if (!limits) return undefined;
  const { key } = sent;
  const version = () => sendCall(settings, pushCalls.version, versionSchema, { key });
  const once = async () => {
    // After a wait that a 429 asks for, also to another request, it could be too late.
    const answer = await send(sendNow, { waitsOn429: false });
    return answer.decoded?.success || isRefusal(answer.response) ? answer : undefined;
  };
  return repeat({ ...limits, key, send: once, version, repeats, now, sleep, repeating });
}

function sentRequest(settings: ReadySettings, details: CallDetails): SentRequest {
  const { addressHint, token, headers = {}, tokenFrom, tokenHint, anonymous } = settings;
  const { keyProof } = details;
  const secrets = [token, keyProof, ...Object.values(headers), ...(details.secrets ?? [])];
  return {
    ...{ addressHint, tokenFrom, tokenHint, anonymous },
    host: new URL(settings.base).host,
    authenticated: token !== undefined,
    passphrase: details.query?.passphrase !== undefined || details.body instanceof URLSearchParams,
    proved: details.keyProof !== undefined,
    files: details.form?.files ?? [],
    headers: Object.keys(headers),
    secrets: secrets.filter((secret) => secret !== undefined),
  };
}

function wireRequest(settings: ReadySettings, call: Call, details: CallDetails): HttpRequest {
  const { token = '', body, form, key } = details;
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
  if (details.withoutIdentity) headers['x-age-identity'] = 'none';
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
