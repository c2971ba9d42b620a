import type { CliError } from '../platform/errors';
import type { Answer, SentCall } from './api-settings';
import type { Call } from './calls';
import * as errors from './failure';
import { TransportError } from './transport/network-errors';
import {
  header,
  isSuccess,
  jsonIn,
  ResponseTooLong,
  type WholeResponse,
} from './transport/response';

/**
 * What a response tells of a request that it does not do: `nothing`, as a page, an empty body, a part of a response or a
 * failure of a proxy; that it was `refused`; or only `this-time`, when an earlier copy may have been done.
 */
type Telling = 'nothing' | 'this-time' | 'refused';

type Row = readonly [keyof ReturnType<typeof signsOf>, Telling, errors.Explain];

/** The meaning of a response, and the error for it: the first sign that it has counts. */
const meanings: readonly Row[] = [
  ['certificatePage', 'nothing', errors.needsCertificate],
  ['cloudflareLogin', 'nothing', errors.loginAt(true)],
  ['loginPage', 'nothing', errors.loginAt(false)],
  ['success', 'nothing', errors.malformed],
  ['inFront', 'nothing', errors.inFront],
  ['unavailable', 'this-time', errors.broken],
  ['failure', 'nothing', errors.broken],
  ['throttled', 'this-time', errors.throttled],
  ['markup', 'nothing', errors.refused],
  ['later', 'this-time', errors.refused],
  ['error', 'refused', errors.refused],
  ['wordless', 'this-time', errors.refused],
  ['other', 'nothing', errors.refused],
];

function meaningOf(response: WholeResponse, call: Call): Row {
  const signs = signsOf(response, call);
  return meanings.find(([sign]) => signs[sign]) as Row;
}

/** The error for an answer that does not do what was asked. */
export function explain({ response, error }: Answer, sent: SentCall): CliError {
  if (!response) return errors.lost(error, sent);
  const [, , errorOf] = meaningOf(response, sent.call);
  return errorOf(errors.refusalOf(response, sent));
}

/** Whether an answer to a repetition tells what became of the request. */
export function tells({ value, response }: Answer, call: Call): boolean {
  return (
    value !== undefined || (response !== undefined && meaningOf(response, call)[1] === 'refused')
  );
}

/** Whether the first answer to a request leaves open what became of it. */
export function leavesOpen({ value, response, error }: Answer, call: Call): boolean {
  if (response) return value === undefined && meaningOf(response, call)[1] === 'nothing';
  return isLoss(error) && !(error instanceof TransportError && (error.foreign || !error.sent));
}

/** Whether an error says that there is no whole response. */
export function isLoss(error: unknown): error is CliError {
  return error instanceof TransportError || error instanceof ResponseTooLong;
}

/** The beginning of a body is searched. */
const SEARCHED_BYTES = 16 * 1024;

/** What is seen in a response, of which the body may be long, or no text. */
function signsOf(response: WholeResponse, { holds }: Call) {
  const { status } = response;
  const text = response.body.toString('utf8', 0, SEARCHED_BYTES);
  const json = jsonIn(response);
  const success = isSuccess(response);
  const error = isError(json);
  // An API in JSON sends neither a page nor XML, whatever it refuses.
  const markup = /^\s*<[!?a-z]/i.test(text);
  const page = /^\s*<(!--|!doctype html|html|head)\b/i.test(text) ? text : '';
  const mayBeLogin = success || status === 401 || status === 403;
  const isText = status === 403 && json === undefined && !markup;
  // Instances before July 2024 say so in words (docs/wire.md, "Editions and versions").
  const throttled = isText && /throttl|too many|retry later|rate limit/i.test(text.slice(0, 1024));
  const isLimit = status === 413 || status === 429;
  return {
    /** nginx sends such a page for `ssl_verify_client`. */
    certificatePage: status === 400 && /SSL certificate (was sent|error)/i.test(page),
    cloudflareLogin: mayBeLogin && /cloudflare access|\/cdn-cgi\/access\//i.test(page),
    loginPage:
      mayBeLogin &&
      /type=["']?password|\b(log|sign)[ -]?in\b|single sign-on|<title>[^<]*\bSSO\b/i.test(page),
    success,
    inFront:
      header(response, 'cf-mitigated') !== undefined ||
      (isText && !throttled && /^\s*[^\s{[\ufeff]/.test(text)) ||
      (markup && status >= 400 && status < 500 && !SAID_IN_PAGES.includes(status)) ||
      (status === 401 && !error && isForeign(response)),
    /** A service that lost its database says so, too, and does not know whether a view was used. */
    unavailable: status === 503 && error && holds !== 'secret',
    failure: status >= 500,
    throttled,
    markup: markup && !isLimit,
    later:
      status < 400 ||
      (error &&
        ([408, 425, 429].includes(status) || header(response, 'retry-after') !== undefined)),
    error,
    /** Without words, the reference refuses a token (docs/wire.md). */
    wordless: isLimit || text.trim() === '{}' || (text.trim() === '' && status === 401),
    other: true,
  };
}

/** An instance says these with pages, too, or they mean the same wherever they are from. */
const SAID_IN_PAGES = [400, 404, 413, 422, 429];

/** Whether the challenge of a 401 (RFC 9110, 11.6.1) is not that of the instance; `Token` is that of the reference's framework. */
function isForeign({ headers }: WholeResponse): boolean {
  const challenge = [headers['www-authenticate']].flat().join();
  return challenge !== '' && !/(^|,)\s*(bearer|token)\b/i.test(challenge);
}

/** Whether a body is an error of API v2 (docs/wire.md, "Errors"): an `error`, or lists of messages by field, also in `errors`. */
function isError(body: unknown): boolean {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return false;
  const { error, errors } = body as { error?: unknown; errors?: unknown };
  if (typeof error === 'string') return true;
  const lists = Object.values(typeof errors === 'object' && errors !== null ? errors : body);
  return lists.length > 0 && lists.every((one) => Array.isArray(one));
}
