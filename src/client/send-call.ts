import * as v from 'valibot';
import { API_PATH } from '../contract/api';
import { versionSchema } from '../contract/decode';
import type { HttpRequest, Transport } from '../platform/context';
import { CliError } from '../platform/errors';
import { randomKey } from '../platform/random-key';
import type { Answer, ApiSettings, CallDetails, ReadySettings, SentCall } from './api-settings';
import { type Call, pushCalls } from './calls';
import { follow, withinOrigin } from './transport/redirects';
import { isSuccess, jsonIn, readWhole } from './transport/response';

/** Sends a call and decodes its response, as `sendCall` does with the settings of a client. */
export type Ask = <Schema extends v.GenericSchema>(
  call: Call,
  schema: Schema,
  details?: CallDetails,
) => Promise<v.InferOutput<Schema>>;

type Settings = ApiSettings & Pick<ReadySettings, 'sendNow'>;

/** Settings with the token itself. The connection is opened meanwhile if it has to be got. */
export async function withToken(settings: Settings): Promise<ReadySettings> {
  const { token, open } = settings;
  // Not a copy: of many calls, each would make one.
  if (typeof token !== 'function') return settings as ReadySettings;
  open?.();
  return { ...settings, token: await token() };
}

/**
 * Sends a call and decodes its response.
 * @throws CliError for any other outcome; see `explain`
 */
export async function sendCall<Schema extends v.GenericSchema>(
  unready: Settings,
  call: Call,
  schema: Schema,
  details: CallDetails,
): Promise<v.InferOutput<Schema>> {
  const settings = await withToken(unready);
  const { keyedFor } = call.retry;
  const idempotencyKey = keyedFor === undefined ? details.idempotencyKey : await randomKey();
  const sent = { settings, call, details: { ...details, idempotencyKey } };
  const request = wireRequest(sent);
  const send = (over = settings.send) => answerTo(request, over, schema, settings);
  const began = settings.now().getTime();
  const first = await send();
  if (first.value !== undefined) return first.value;
  // 12 KB that a call without a failure does without.
  const [{ lastAnswer }, { explain }] = await Promise.all([
    import('./repeat'),
    import('./meaning'),
  ]);
  const version = () => sendCall(settings, pushCalls.version, versionSchema, { idempotencyKey });
  const last = await lastAnswer(first, { ...sent, began, send, version });
  if (last.value !== undefined) return last.value;
  throw explain(last, sent);
}

async function answerTo<Schema extends v.GenericSchema>(
  request: HttpRequest,
  over: Transport,
  schema: Schema,
  settings: ReadySettings,
): Promise<Answer<v.InferOutput<Schema>>> {
  try {
    const response = await readWhole(
      await follow(over, request, withinOrigin),
      request.url,
      settings,
    );
    const decoded = isSuccess(response) ? v.safeParse(schema, jsonIn(response)) : undefined;
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
  // A string of RFC 8941, as draft-ietf-httpapi-idempotency-key-header has it.
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
