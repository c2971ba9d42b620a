import type { CliError } from '../platform/errors';
import type { Answer, SentCall } from './api-settings';
import type { Call } from './calls';
import {
  broken,
  type Explain,
  inFront,
  loginAt,
  lost,
  malformed,
  needsCertificate,
  refusalOf,
  refused,
  throttled,
} from './failure';
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

type Signs = ReturnType<typeof signsOf>;
type Fits = (signs: Signs, call: Call) => boolean;

/** The meaning of a response, and the error for it: the first row that fits counts. */
const meanings: readonly (readonly [Telling, Fits, Explain])[] = [
  ['nothing', ({ status, page }) => status === 400 && ofCertificate.test(page), needsCertificate],
  ['nothing', ({ mayBeLogin, page }) => mayBeLogin && ofCloudflare.test(page), loginAt(true)],
  ['nothing', ({ mayBeLogin, page }) => mayBeLogin && ofLogin.test(page), loginAt(false)],
  ['nothing', ({ ok }) => ok, malformed],
  ['nothing', isInFront, inFront],
  ['this-time', isUnavailable, broken],
  ['nothing', ({ status }) => status >= 500, broken],
  // Instances before July 2024 say so with 403 and a text (docs/wire.md, "Editions and versions").
  ['this-time', ({ throttling }) => throttling, throttled],
  ['nothing', ({ status, markup }) => markup && status !== 413 && status !== 429, refused],
  ['this-time', ({ status, error, later }) => status < 400 || (error && later), refused],
  ['refused', ({ error }) => error, refused],
  ['this-time', ({ status, wordless }) => wordless || status === 413 || status === 429, refused],
  ['nothing', () => true, refused],
];

function meaningOf(response: WholeResponse, call: Call) {
  const signs = signsOf(response);
  return meanings.find(([, fits]) => fits(signs, call)) as (typeof meanings)[number];
}

/** The error for an answer that does not do what was asked. */
export function explain({ response, error }: Answer, sent: SentCall): CliError {
  if (!response) return lost(error, sent);
  const [, , explained] = meaningOf(response, sent.call);
  return explained(refusalOf(response, sent));
}

/** Whether an answer to a repetition tells what became of the request. */
export function tells({ value, response }: Answer, call: Call): boolean {
  return (
    value !== undefined || (response !== undefined && meaningOf(response, call)[0] === 'refused')
  );
}

/** Whether the first answer to a request leaves open what became of it. */
export function leavesOpen({ value, response, error }: Answer, call: Call): boolean {
  if (response) return value === undefined && meaningOf(response, call)[0] === 'nothing';
  return isLoss(error) && !(error instanceof TransportError && (error.foreign || !error.sent));
}

/** Whether an error says that there is no whole response. */
export function isLoss(error: unknown): error is CliError {
  return error instanceof TransportError || error instanceof ResponseTooLong;
}

/** The beginning of a body is searched. */
const SEARCHED_BYTES = 16 * 1024;

/** What is seen in a response, of which the body may be long, or no text. */
function signsOf(response: WholeResponse) {
  const { status, headers } = response;
  const text = response.body.toString('utf8', 0, SEARCHED_BYTES);
  const json = jsonIn(response);
  const markup = /^\s*<[!?a-z]/i.test(text);
  return {
    status,
    ok: isSuccess(response),
    mayBeLogin: isSuccess(response) || status === 401 || status === 403,
    /** A page or XML: an API in JSON sends neither, whatever it refuses. */
    markup,
    page: /^\s*<(!--|!doctype html|html|head)\b/i.test(text) ? text : '',
    inWords: /^\s*[^\s{[\ufeff]/.test(text) && json === undefined,
    error: isError(json),
    later: [408, 425, 429].includes(status) || header(response, 'retry-after') !== undefined,
    /** As the reference refuses a token (docs/wire.md). */
    wordless: text.trim() === '{}' || (text.trim() === '' && status === 401),
    throttling:
      status === 403 &&
      !markup &&
      json === undefined &&
      /throttl|too many|retry later|rate limit/i.test(text.slice(0, 1024)),
    challenge: [headers['www-authenticate']].flat().join(),
    mitigated: header(response, 'cf-mitigated') !== undefined,
  };
}

/** The page of nginx for `ssl_verify_client`. */
const ofCertificate = /SSL certificate (was sent|error)/i;
const ofCloudflare = /cloudflare access|\/cdn-cgi\/access\//i;
const ofLogin = /type=["']?password|\b(log|sign)[ -]?in\b|single sign-on|<title>[^<]*\bSSO\b/i;

/** A service that lost its database says so, too, and does not know whether a view was used. */
function isUnavailable({ status, error }: Signs, { holds }: Call): boolean {
  return status === 503 && error && holds !== 'secret';
}

/** Whether a refusal is of something in front of the instance, such as a browser check or a login, and not its own. */
function isInFront(signs: Signs): boolean {
  const { status, markup, inWords, throttling, challenge, error, mitigated } = signs;
  if (mitigated) return true;
  // An instance says the first five with pages, too, or they mean the same wherever they are from.
  if (status < 400 || status > 499 || [400, 404, 413, 422, 429].includes(status)) return false;
  // An instance says in JSON that it forbids something.
  if (markup || (status === 403 && inWords && !throttling)) return true;
  // RFC 9110, 11.6.1; `Token` is that of the web framework of the reference.
  const isOwn = challenge === '' || /(^|,)\s*(bearer|token)\b/i.test(challenge);
  return status === 401 && !isOwn && !error;
}

/** Whether a body is an error of API v2 (docs/wire.md, "Errors"): an `error`, or lists of messages by field, also in `errors`. */
function isError(body: unknown): boolean {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return false;
  const { error, errors } = body as { error?: unknown; errors?: unknown };
  if (typeof error === 'string') return true;
  const lists = Object.values(typeof errors === 'object' && errors !== null ? errors : body);
  return lists.length > 0 && lists.every((one) => Array.isArray(one));
}
