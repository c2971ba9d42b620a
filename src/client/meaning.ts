import { webAddress } from '../contract/address';
import { IDENTITY_NEEDED, LINK_INCOMPLETE } from '../contract/api';
import { size } from '../contract/byte-size';
import { isObject } from '../contract/json';
import {
  CliError,
  type ErrorCode,
  type Fact,
  failedError,
  type Hint,
  phrase,
} from '../platform/errors';
import type { FactName } from '../words/facts';
import type { HintName } from '../words/hints';
import type { Answer, SentCall } from './api-settings';
import { type Call, exchangeCall, isEmpty, namesOne, noRequests } from './calls';
import { bodyFact, isJson, objectIn, quotable, textOf, wordsOf } from './error-body';
import { TransportError } from './transport/network-errors';
import { LeavesOrigin, loginHint } from './transport/redirects';
import {
  header,
  isSuccess,
  jsonBody,
  ResponseTooLong,
  retryAfter,
  type WholeResponse,
} from './transport/response';

/**
 * What a response says about an HTTP request that was not done. `nothing`: it is a page, an empty body, a truncated
 * response or a failure of a proxy. `this-time`: an earlier copy of the HTTP request may have been done.
 */
type Telling = 'nothing' | 'this-time' | 'refused';

interface Refusal extends SentCall {
  readonly response: WholeResponse;
  readonly status: number;
  /** The texts of the response, as `quotable` returns them. */
  readonly words: readonly Fact[];
  /** Secrets of the HTTP request, which no message repeats. */
  readonly hidden: readonly string[];
}

type Explain = (refusal: Refusal) => CliError;
type Row = readonly [keyof ReturnType<typeof signsOf>, Telling, Explain];

/** The first row whose sign is true for a response tells its meaning and its error. */
const meanings: readonly Row[] = [
  ['plainHttp', 'this-time', plainHttp],
  ['networkLogin', 'this-time', notReached(() => phrase('network-login'), 'log-in-to-network')],
  ['edge', 'this-time', notReached((status) => phrase('edge-cannot-reach', status), 'try-later')],
  ['certificatePage', 'nothing', plain('failed', 'certificate-needed-here', 'send-certificate')],
  ['cloudflareLogin', 'nothing', loginAt(true)],
  ['loginPage', 'nothing', loginAt(false)],
  ['success', 'nothing', malformed],
  ['inFront', 'nothing', inFront],
  ['unavailable', 'this-time', broken],
  ['failure', 'nothing', broken],
  ['throttled', 'this-time', (it) => aboutFiles(plain('rate_limited', 'rate-limited')(it), it)],
  ['markup', 'nothing', refused],
  ['later', 'this-time', refused],
  ['error', 'refused', refused],
  ['wordless', 'this-time', refused],
  ['other', 'nothing', refused],
];

const byStatus: Readonly<Record<number, Explain>> = {
  400: (it) => (it.call === exchangeCall ? noExchange : rejected)(it),
  401: unauthorized,
  403: forbidden,
  404: notFound,
  // A secret request gets only one answer (docs/wire.md, "Requests").
  409: ofRequest(plain('rejected', 'answered-already', 'ask-requester'), rejected),
  410: ofRequest(plain('expired', 'request-closed', 'ask-for-new-link'), failed),
  412: (refusal) =>
    objectIn(refusal.response).error === IDENTITY_NEEDED
      ? plain('passphrase', 'sealed-to-key', 'give-identity-first')(refusal)
      : failed(refusal),
  413: rejected,
  422: rejected,
  429: putOff('rate-limited'),
};

function meaningOf(response: WholeResponse, call: Call): Row {
  const signs = signsOf(response, call);
  return meanings.find(([sign]) => signs[sign]) as Row;
}

export function explain({ response, error }: Answer, sent: SentCall): CliError {
  if (!response) return withoutResponse(error, sent);
  const { settings, details, call } = sent;
  const { keyProof, query, secrets = [] } = details;
  const headers = Object.values(settings.headers ?? {});
  const hidden = [settings.token, keyProof, query?.passphrase, ...headers, ...secrets].filter(
    (secret) => secret !== undefined,
  );
  const words = quotable(wordsOf(response), hidden);
  const [, , errorFor] = meaningOf(response, call);
  return errorFor({ ...sent, response, status: response.status, words, hidden });
}

/** Returns whether the response to a repetition tells what became of the HTTP request. */
export function settles({ value, response }: Answer, call: Call): boolean {
  return (
    value !== undefined || (response !== undefined && meaningOf(response, call)[1] === 'refused')
  );
}

/**
 * Returns whether the first answer is the call's own outcome. Redirects, limits and a 403 are what something in front
 * says, maybe of a request that was done.
 */
export function isOutcome({ value, response, error }: Answer, call: Call): boolean {
  if (value !== undefined) return !isEmpty(call, value);
  // Of a redirect that is not followed there is the status alone.
  if (response === undefined) return error?.status === undefined;
  const { status } = response;
  if (status === 403) return objectIn(response).error === LINK_INCOMPLETE;
  return status === 401 || status === 413 || meaningOf(response, call)[1] === 'refused';
}

/** Returns whether the first answer does not tell if the HTTP request was carried out. */
export function leavesOpen({ value, response, error }: Answer, call: Call): boolean {
  if (response) return value === undefined && meaningOf(response, call)[1] === 'nothing';
  return isLoss(error) && !(error instanceof TransportError && (error.foreign || !error.sent));
}

export function isLoss(error: unknown): error is CliError {
  return error instanceof TransportError || error instanceof ResponseTooLong;
}

export function isTemporary(error: unknown): error is CliError {
  if (!(error instanceof CliError)) return false;
  const { code, status = 0, passes } = error;
  return passes || ['unreachable', 'unknown', 'rate_limited'].includes(code) || status >= 500;
}

const MOST_SEARCHED_BYTES = 16 * 1024;

function signsOf(response: WholeResponse, { holds }: Call) {
  const { status } = response;
  const text = response.body.toString('utf8', 0, MOST_SEARCHED_BYTES);
  const json = jsonBody(response);
  const success = isSuccess(response);
  const error = isError(json);
  // The API itself sends neither HTML nor XML, even with an error.
  const markup = /^\s*<[!?a-z]/i.test(text);
  const page = /^\s*<(!--|!doctype html|html|head)\b/i.test(text) ? text : '';
  const mayBeLogin = success || status === 401 || status === 403;
  const isText = status === 403 && json === undefined && !markup;
  // Instances before July 2024 say in words that they throttle (docs/wire.md, "Editions and versions").
  const throttled = isText && /throttl|too many|retry later|rate limit/i.test(text.slice(0, 1024));
  const isLimit = status === 413 || status === 429;
  return {
    /** nginx, Go, Apache and Tomcat say so in their own words. */
    plainHttp:
      status === 400 &&
      /HTTP request (was sent )?to (an )?HTTPS|plain HTTP to an SSL|port requires TLS/i.test(text),
    /** A network that requires a login answers instead of every server (RFC 6585, 6). */
    networkLogin: status === 511,
    edge: isEdge(response, text),
    /** nginx sends this page if `ssl_verify_client` is on and the client has no valid certificate. */
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
    /** A 503 of a retrieval is a `failure`: a service that lost its database does not know whether a view was used. */
    unavailable: error && (status === 507 || (status === 503 && holds !== 'secret')),
    failure: status >= 500,
    throttled,
    markup: markup && !isLimit,
    later:
      status < 400 ||
      (error &&
        ([408, 425, 429].includes(status) || header(response, 'retry-after') !== undefined)),
    error,
    /** The reference implementation refuses a token with an empty body (docs/wire.md). */
    wordless: isLimit || text.trim() === '{}' || (text.trim() === '' && status === 401),
    other: true,
  };
}

/**
 * Returns whether Cloudflare had no connection over which it could have sent the request: refused, no route, no TLS, no
 * valid certificate; in a 530, no address (1016) or no tunnel (1033). 520, 522 and 524 may come after it was sent.
 */
function isEdge(response: WholeResponse, text: string): boolean {
  const { status } = response;
  const isCloudflare =
    header(response, 'server') === 'cloudflare' && header(response, 'cf-ray') !== undefined;
  return (
    isCloudflare &&
    ([521, 523, 525, 526].includes(status) || (status === 530 && /\b10(16|33)\b/.test(text)))
  );
}

/** With these statuses, a page may come from the instance, or means the same from a proxy: it is not `inFront`. */
const SAID_IN_PAGES = [400, 404, 413, 422, 429];

/** Returns whether a 401 has a challenge (RFC 9110, 11.6.1) of another; the reference implementation sends `Token`. */
function isForeign({ headers }: WholeResponse): boolean {
  const challenge = [headers['www-authenticate']].flat().join();
  return challenge !== '' && !/(^|,)\s*(bearer|token)\b/i.test(challenge);
}

/** Returns whether a body has `error`, or lists of messages by field, maybe in `errors` (docs/wire.md, "Errors"). */
function isError(body: unknown): boolean {
  if (!isObject(body)) return false;
  const { error, errors } = body;
  if (typeof error === 'string') return true;
  const lists = Object.values(typeof errors === 'object' && errors !== null ? errors : body);
  return lists.length > 0 && lists.every((list) => Array.isArray(list));
}

/**
 * Gives an error the code `unknown`, since the call may have had its effect although no response says so. A response to
 * a call without an effect leaves nothing unknown.
 * @param lost whether there is no response
 */
function openOutcome(
  failure: CliError,
  { call: { retry, unclear, unclearWithoutToken }, settings: { token } }: SentCall,
  lost = false,
): CliError {
  if (retry.resent === 'if-lost' && !lost) return failure;
  const hint = (token === undefined ? unclearWithoutToken : undefined) ?? unclear;
  return failure.with({ code: 'unknown', ...(hint && { hints: phrase(hint) }) });
}

/** Explains an error without a response. What the call did is unknown, unless nothing was sent. */
function withoutResponse(error: CliError, sent: SentCall): CliError {
  const { fromLink, base, addressHint } = sent.settings;
  if (error instanceof LeavesOrigin && fromLink)
    return error.withAdvice((there) => phrase('replace-in-link', there, base));
  if (error instanceof ResponseTooLong) return openOutcome(error, sent);
  if (!(error instanceof TransportError)) return error;
  if (error.sent) return openOutcome(error, sent, true);
  return addressHint === undefined ? error : error.advising(addressHint);
}

/** The request was not done, as with https at a port without TLS. */
function plainHttp(refusal: Refusal): CliError {
  const { base } = refusal.settings;
  if (!base.startsWith('http:')) return rejected(refusal);
  const fact = phrase('unreachable', new URL(base).host, phrase('tls-only'));
  return errorOf('unreachable', 400, fact, phrase('use-tls', base.slice('http:'.length)));
}

function notReached(why: (status: number) => Fact, hint: HintName): Explain {
  return ({ status, settings: { base } }) => {
    const fact = phrase('unreachable', new URL(base).host, why(status));
    return errorOf('unreachable', status, fact, phrase(hint));
  };
}

function loginAt(cloudflare: boolean): Explain {
  return ({ status, settings: { headers = {} } }) => {
    const hint = loginHint(cloudflare, Object.keys(headers));
    return errorOf('failed', status, phrase('login-page', status), phrase(hint));
  };
}

function inFront({ status, words, settings: { base } }: Refusal): CliError {
  const fact = phrase('in-front', new URL(base).host, status, ...words);
  return errorOf('failed', status, fact, phrase('pass-front'));
}

function broken(refusal: Refusal): CliError {
  // `pwpush serve` says so where it is busy or full. An instance that lies could as well return a 422.
  if (objectIn(refusal.response).done === false) return putOff('nothing-done')(refusal);
  return openOutcome(failed(refusal), refusal);
}

function refused(refusal: Refusal): CliError {
  return aboutFiles((byStatus[refusal.status] ?? failed)(refusal), refusal);
}

function ofRequest(explain: Explain, ofPush: Explain): Explain {
  return (refusal) => (refusal.call.subject === 'request' ? explain : ofPush)(refusal);
}

function plain(code: ErrorCode, fact: FactName, hint?: HintName): Explain {
  return ({ status }) => errorOf(code, status, phrase(fact), hint && phrase(hint));
}

function errorOf(code: ErrorCode, status: number, fact: Fact, hints?: Hint): CliError {
  return new CliError(code, fact, { status, hints });
}

function failed({ status, words }: Refusal): CliError {
  if (status < 400)
    return errorOf('failed', status, phrase('redirects', status), phrase('check-address'));
  return errorOf('failed', status, phrase('failed', status, ...words));
}

function rejected({ status, words }: Refusal): CliError {
  const isLong = /\bpayload is too (?:long|large)\b/.test(textOf(words));
  const hints = status === 413 ? phrase('heed-size') : isLong ? phrase('attach') : undefined;
  return errorOf('rejected', status, phrase('refused', ...words), hints);
}

/** RFC 6749, 5.2: the status is 400 whatever is wrong with the identity token. */
function noExchange({ status, words }: Refusal): CliError {
  const fact = phrase('identity-refused', ...words);
  return errorOf('unauthorized', status, fact, phrase('compare-claims'));
}

function unauthorized(refusal: Refusal): CliError {
  const { response, status, call, details, settings, words } = refusal;
  const { token, tokenFrom = '', tokenHint = phrase('log-in') } = settings;
  // `words` leaves out texts that repeat a secret, so that the body is read again.
  const raw = textOf(wordsOf(response));
  if (call.takesPassphrase && /passphrase/i.test(raw)) {
    if (details.query?.passphrase !== undefined || details.body instanceof URLSearchParams)
      return plain('passphrase', 'passphrase-wrong', 'ask-for-passphrase')(refusal);
    const needed = phrase('passphrase-needed', call.subject);
    return errorOf('passphrase', status, needed, phrase('give-passphrase'));
  }
  // The reference implementation responds with 401 where the specification has 403 (docs/wire.md, "Errors").
  if (call.ends && /delet/i.test(raw)) return forbidden(refusal);
  if (token !== undefined) {
    const hint = settings.tokenOfProfile ? 'renew-login' : 'renew-token';
    const renew = phrase(hint, call.public ? 'none' : '');
    // Other words say no more than the fact does.
    const said = /\bexpired\b/i.test(raw) ? words : [];
    return errorOf('unauthorized', status, phrase('token-refused', tokenFrom, ...said), renew);
  }
  return settings.anonymous
    ? plain('unauthorized', 'token-withheld', 'remove-anonymous')(refusal)
    : errorOf('unauthorized', status, phrase('token-needed'), tokenHint);
}

function forbidden(refusal: Refusal): CliError {
  const { response, status, call, words } = refusal;
  if (call.takesPassphrase && objectIn(response).error === LINK_INCOMPLETE)
    return proofWanted(refusal);
  // `pwpush serve` says so in a field, and the words are ours.
  if (objectIn(response).scope === 'push' && refusal.settings.token !== undefined)
    return errorOf(
      'forbidden',
      status,
      phrase(namesOne(call) ? 'token-reaches-own' : 'token-pushes-only'),
      phrase('use-other-token'),
    );
  const fact =
    words.length === 0 ? phrase(call.ownersOnly ?? 'owners-only') : phrase('refused', ...words);
  return errorOf('forbidden', status, fact, ownersHint(refusal));
}

function proofWanted(refusal: Refusal): CliError {
  const { key_salt, opens_at } = objectIn(refusal.response);
  const sent = refusal.details.keyProof !== undefined;
  const salt = typeof key_salt === 'string' ? key_salt : undefined;
  // With a right proof for another address, the instance returns in `opens_at` where the link opens.
  const opensAt = sent && typeof opens_at === 'string' ? webAddress(opens_at) : undefined;
  const { base } = refusal.settings;
  // Over plain http, everybody on the way could exchange the page that gets the key.
  const isSafe = opensAt && (opensAt.startsWith('https:') || base.startsWith('http:'));
  const [address] = isSafe ? quotable([opensAt.replace(/\/$/, '')], refusal.hidden) : [];
  const elsewhere = typeof address === 'string';
  const [fact, hints] = elsewhere
    ? [phrase('opens-elsewhere', address), phrase('open-there', base, new URL(address).host)]
    : sent
      ? [phrase('key-refused'), phrase('compare-key-and-link')]
      : salt !== undefined
        ? [phrase('key-words-needed'), phrase('ask-for-words')]
        : [phrase('key-missing'), phrase('ask-for-link')];
  return new CliError('passphrase', fact, {
    status: 403,
    hints,
    wantsProof: { sent, salt, elsewhere },
  });
}

/** The response does not name the owner; a push created without a token has none. */
function ownersHint({ call, settings: { token, anonymous, tokenHint } }: Refusal): Hint {
  if (token !== undefined)
    return namesOne(call) ? phrase('check-owner', call.subject) : phrase('ask-administrator');
  if (anonymous) return phrase('remove-anonymous-of-owner');
  if (tokenHint !== undefined) return tokenHint;
  if (!namesOne(call)) return phrase('log-in');
  return phrase('log-in-as-owner', call.ends ? 'expires' : '');
}

function notFound({ response, status, call, words }: Refusal): CliError {
  if (namesOne(call) && (isJson(response) || words.length === 0))
    return errorOf('not_found', status, phrase('no-such', call.subject), phrase('check-link'));
  if (call.subject === 'request') return noRequests(status);
  const more = /^not.found$/i.test(textOf(words)) ? [] : words;
  return errorOf('not_found', status, phrase('no-api', ...more), phrase('check-api'));
}

function putOff(fact: 'rate-limited' | 'nothing-done'): Explain {
  return ({ response, status, words, settings }) => {
    const wait = retryAfter(response, settings.now()) || '';
    return errorOf('rate_limited', status, phrase(fact, ...words), phrase('try-later', wait));
  };
}

function malformed(refusal: Refusal): CliError {
  const { response, status, call } = refusal;
  // A page contains neither a secret nor a link.
  const isPage = /^\s*<(!doctype|html|h\d|p|head|body)\b/i.test(
    response.body.toString('latin1', 0, 256),
  );
  const body = bodyFact(response, isPage || !(call.holds || isJson(response)));
  const rescued = call.holds === 'secret' && !isPage && response.body.length > 0;
  const failure = failedError(phrase('unexpected', status, ...quotable([body], refusal.hidden)), {
    status,
    hints: phrase('check-instance'),
    unread: rescued ? response.body : undefined,
    // A proxy may send a page while the instance is down.
    passes: true,
  });
  return openOutcome(failure, refusal);
}

/** Gives hints about the files of a call, since most refusals of a call with files are about them. */
function aboutFiles(failure: CliError, refusal: Refusal): CliError {
  const { details, settings, status, words } = refusal;
  const [largest] = (details.form?.files ?? []).toSorted((a, b) => b.size - a.size);
  if (largest === undefined) return failure;
  if ((status === 401 || status === 403) && settings.token === undefined)
    return failure.with({
      facts: status === 401 ? phrase('files-need-token') : failure.facts,
      hints: phrase(settings.anonymous ? 'remove-anonymous' : 'log-in'),
    });
  if (status === 413) {
    const which = `"${largest.shownAs ?? largest.name}" (${size(largest.size)})`;
    const count = details.form?.files.length ?? 0;
    return failure.with({ hints: phrase('heed-size-of-files', which, count) });
  }
  const isOfFiles = status === 422 && /\b(files?|attach\w*|kind)\b/i.test(textOf(words));
  return isOfFiles ? failure.with({ hints: phrase('check-features') }) : failure;
}
