import { LINK_INCOMPLETE } from '../contract/api';
import { CliError, type ErrorDetails, failedError, type Step } from '../platform/errors';
import { type Call, namesOne, noRequests } from './calls';
import { errorText, firstLine, isJson, objectIn, quotable, sizeOnly } from './error-body';
import { accessPage } from './transport/access-proxy';
import { retryAfter } from './transport/call';
import type { TransportError } from './transport/network-errors';
import { header, isSuccess, ResponseTooLong, type WholeResponse } from './transport/response';

const WITH_TOKEN = 'log in with pwpush login, or set PWPUSH_TOKEN';

/** For the messages when a token is refused or missing. */
export interface TokenSource {
  /** Where the token is from. */
  readonly tokenFrom?: string | undefined;
  /** What to do if none is sent, but could be. */
  readonly tokenHint?: Step | undefined;
  /** The user asked for no token to be sent. */
  readonly anonymous?: boolean | undefined;
}

/** What is known of a request that failed, besides its call. */
export interface SentRequest extends TokenSource {
  /** Sent with a token. */
  readonly authenticated: boolean;
  /** Sent with a passphrase. */
  readonly passphrase: boolean;
  /** Sent with a proof of the key. */
  readonly proved: boolean;
  /** Sent with files. */
  readonly files: boolean;
  /** Secrets of the request, which no message repeats. */
  readonly secrets: readonly string[];
  /** Names of the user's headers that it was sent with. */
  readonly headers: readonly string[];
}

/**
 * The error for a response that does not do what was asked: no success, whose body may be empty, HTML or truncated, or a
 * success whose body does not match its schema.
 */
export function explain(
  response: WholeResponse,
  call: Call,
  sent: SentRequest,
  now: Date,
): CliError {
  const page = accessPage(response, sent.headers);
  if (page) return page;
  if (isSuccess(response)) return malformed(response, call, sent);
  const text = quotable(errorText(response), sent.secrets);
  const failure = statusError({ response, call, sent, text, now });
  return sent.files ? filesRefused(failure, text, sent) : failure;
}

/** The error for a request without a whole response: unreachable if nothing was sent, else an open outcome. */
export function explainLoss(
  failure: TransportError | ResponseTooLong,
  call: Call,
  sent: SentRequest,
): CliError {
  const { message } = failure;
  if (failure instanceof ResponseTooLong)
    return openOutcome(message, call, sent, { status: failure.status });
  const { hint } = failure;
  if (!failure.sent) return new CliError('unreachable', message, { steps: hint, cause: failure });
  return openOutcome(message, call, sent, { steps: hint, cause: failure }, true);
}

/**
 * The error of a call that may have had its effect although no response says so. A response, even an unusable one, to a call
 * that can be repeated leaves nothing open.
 * @param lost there is no response
 */
function openOutcome(
  message: string,
  { repeatable, unclear, unclearWithoutToken }: Call,
  { authenticated }: SentRequest,
  details: ErrorDetails,
  lost = false,
): CliError {
  if (repeatable && !lost) return failedError(message, details);
  const hint = (authenticated ? undefined : unclearWithoutToken) ?? unclear;
  return new CliError('unknown', message, { ...details, steps: hint ?? details.steps });
}

/** Whether a call that failed may succeed later, as far as its error says. */
export function isTemporary(error: unknown): error is CliError {
  if (!(error instanceof CliError)) return false;
  const { code, status = 0 } = error;
  return ['unreachable', 'unknown', 'rate_limited'].includes(code) || status >= 500;
}

/** An unsuccessful response, and what it says in a text that may be quoted. */
interface Refusal {
  readonly response: WholeResponse;
  readonly call: Call;
  readonly sent: SentRequest;
  readonly text: string;
  readonly now: Date;
}

function statusError(refusal: Refusal): CliError {
  const { response, call, sent, text } = refusal;
  const { status } = response;
  if (status === 401) return unauthorized(refusal);
  if (status === 403) return forbidden(refusal);
  if (status === 404) return notFound(refusal);
  if (status === 429) return rateLimited(refusal);
  if (status >= 300 && status < 400)
    return failedError(`the instance redirects (${status}) instead of responding`, {
      status,
      steps: 'check the address',
    });
  if (call.subject === 'request' && (status === 409 || status === 410)) return tooLate(status);
  const code = [400, 409, 413, 422].includes(status) ? 'rejected' : 'failed';
  const verb =
    code === 'rejected' ? 'the instance refused the request' : `the instance failed (${status})`;
  const message = `${verb}${text === '' ? '' : `: ${text}`}`;
  if (status >= 500) return openOutcome(message, call, sent, { status });
  return new CliError(code, message, { status, steps: sizeHint(status, text) });
}

function sizeHint(status: number, text: string): string | undefined {
  if (status === 413) return 'it is larger than the instance or a proxy in front of it allows';
  return /\bthe text is too (?:long|large)\b/.test(text) ? 'attach it with --file' : undefined;
}

function passphraseRefused({ call, sent }: Refusal): CliError {
  return sent.passphrase
    ? new CliError('passphrase', 'wrong passphrase', {
        status: 401,
        steps: 'ask the sender of the link; only a few attempts per minute are allowed',
      })
    : new CliError('passphrase', `the ${call.subject} requires a passphrase`, {
        status: 401,
        steps: 'use -p to type it, --passphrase-file PATH, or PWPUSH_PASSPHRASE',
      });
}

function unauthorized(refusal: Refusal): CliError {
  const { response, call, sent } = refusal;
  // Not `text`, in which what repeats a secret is left out.
  const raw = errorText(response);
  if (call.takesPassphrase && /passphrase/i.test(raw)) return passphraseRefused(refusal);
  // The reference responds with 401 where the specification has 403 (docs/wire.md, "Errors").
  if (call.ends && /delet/i.test(raw)) return forbidden(refusal);
  return sent.authenticated ? tokenRefused(call, sent) : tokenNeeded(sent);
}

function tokenRefused(call: Call, { tokenFrom }: SentRequest): CliError {
  const from = tokenFrom === undefined ? '' : ` from ${tokenFrom}`;
  const again = tokenFrom?.startsWith('profile ')
    ? ['log in again with pwpush login']
    : ['set a valid one there', 'log in with pwpush login'];
  const ways = call.public ? [...again, 'use --anonymous to send none'] : again;
  return new CliError('unauthorized', `the instance refused the token${from}`, {
    status: 401,
    steps: `${ways.slice(0, -1).join(', ')}${ways.length > 1 ? ', or ' : ''}${ways.at(-1)}`,
  });
}

function tokenNeeded(sent: SentRequest): CliError {
  if (sent.anonymous)
    return new CliError('unauthorized', 'this requires a token, and --anonymous sends none', {
      status: 401,
      steps: 'remove --anonymous',
    });
  return new CliError('unauthorized', 'the instance requires a token', {
    status: 401,
    steps: sent.tokenHint ?? WITH_TOKEN,
  });
}

function forbidden({ response, call, sent, text }: Refusal): CliError {
  const { status } = response;
  const { error, key_salt: salt } = objectIn(response);
  if (call.holds === 'secret' && error === LINK_INCOMPLETE)
    return proofWanted(sent.proved, typeof salt === 'string' ? salt : undefined);
  // Instances before July 2024 throttle with 403 and a text body (docs/wire.md, "Editions and versions").
  if (!isJson(response) && /throttl|too many|retry later|rate limit/i.test(text))
    return new CliError('rate_limited', 'rate limited by the instance', { status });
  const message =
    text === ''
      ? `only the owner can ${call.ownersOnly ?? 'do that'}`
      : `the instance refused the request: ${text}`;
  return new CliError('forbidden', message, { status, steps: ownersHint(call, sent) });
}

function proofWanted(sent: boolean, salt: string | undefined): CliError {
  const wantsProof = { sent, salt };
  if (sent)
    return new CliError('passphrase', 'the instance refused the key', {
      status: 403,
      steps: 'compare it with what the sender gave you',
      wantsProof,
    });
  if (salt !== undefined)
    return new CliError('passphrase', 'the push opens with key words', {
      status: 403,
      steps: 'ask the sender for them, and use --key-file FILE or PWPUSH_KEY',
      wantsProof,
    });
  return new CliError(
    'passphrase',
    'the end of the link is missing, which is the key of the push',
    {
      status: 403,
      steps:
        'ask for the whole link, with the part after #; or use the key with --key-file FILE or PWPUSH_KEY',
      wantsProof,
    },
  );
}

/** The response does not name the owner; a push created without a token has none. */
function ownersHint(call: Call, { authenticated, anonymous, tokenHint }: SentRequest): Step {
  if (authenticated && !namesOne(call))
    return 'the token may not do that: ask the administrator of the instance';
  if (authenticated)
    return `the token belongs to another user, or the ${call.subject} was created without one`;
  if (anonymous) return 'if it is yours, remove --anonymous';
  if (tokenHint !== undefined) return tokenHint;
  if (!namesOne(call)) return WITH_TOKEN;
  const ownerless = call.ends ? 'it can only expire by its limits' : 'nobody can';
  return `log in as its owner with pwpush login; if it was created without a token, ${ownerless}`;
}

function notFound({ response, call, text }: Refusal): CliError {
  const status = 404;
  const { subject } = call;
  if (namesOne(call) && (isJson(response) || text === ''))
    return new CliError('not_found', `no such ${subject} on this instance`, {
      status,
      steps: 'check the link for missing characters, and the instance with pwpush version',
    });
  if (subject === 'request') return noRequests(status);
  const words = text === '' || /^not.found$/i.test(text) ? '' : `: ${text}`;
  return new CliError('not_found', `no API v2 at this address${words}`, {
    status,
    steps: 'check the address and its path; API v2 requires Password Pusher 2.4 or later',
  });
}

/** The first answer is the only one (docs/wire.md, "Requests"). */
function tooLate(status: 409 | 410): CliError {
  return status === 409
    ? new CliError('rejected', 'the request was answered already; your answer was not sent', {
        status,
        steps: 'ask the person who requested it',
      })
    : new CliError('expired', 'the request is closed', { status, steps: 'ask for a new link' });
}

function rateLimited({ response, text, now }: Refusal): CliError {
  const seconds = retryAfter(header(response, 'retry-after'), now);
  return new CliError(
    'rate_limited',
    `rate limited by the instance${text === '' ? '' : `: ${text}`}`,
    { status: 429, steps: seconds ? `try again in ${seconds} s` : 'try again later' },
  );
}

/** The error for a success whose body does not match its schema. */
function malformed(response: WholeResponse, call: Call, sent: SentRequest): CliError {
  const mayHold = call.holds || isJson(response);
  const text = mayHold && !isPage(response) ? sizeOnly(response) : firstLine(response);
  const quoted = quotable(text, sent.secrets);
  const what = `the instance sent an unexpected response (${response.status}): ${quoted}`;
  const rescued = call.holds === 'secret' && isJson(response) && response.body.length > 0;
  return openOutcome(what, call, sent, {
    status: response.status,
    steps:
      'check that this is the address of a Password Pusher instance, and for a proxy in between',
    unread: rescued ? response.body : undefined,
  });
}

/** Whether a body is an HTML page, in which there is no secret and no link. */
function isPage({ body }: WholeResponse): boolean {
  const start = body.subarray(0, 256).toString('latin1');
  return /^\s*<(!doctype|html|h\d|p|head|body)\b/i.test(start);
}

/** The error for a refused push with files: in the instance's words unless it requires a token, with a hint about files. */
function filesRefused(failure: CliError, text: string, sent: SentRequest): CliError {
  const { code, status, cause } = failure;
  const tokenless = status === 401 && !sent.authenticated;
  const message = tokenless
    ? 'attaching files requires a token on this instance'
    : text === '' || failure.message.includes(text)
      ? failure.message
      : `${failure.message}: ${text}`;
  const steps = filesHint(status, message, sent) ?? failure.steps;
  return new CliError(code, message, { status, steps, cause });
}

function filesHint(
  status: number | undefined,
  message: string,
  { authenticated, anonymous }: SentRequest,
): string | undefined {
  if ((status === 401 || status === 403) && anonymous) return 'remove --anonymous';
  if ((status === 401 || status === 403) && !authenticated) return WITH_TOKEN;
  if (status === 413)
    return 'the files exceed a limit of the instance (pwpush serve: --max-file-size) or of a proxy in front of it';
  if (status === 422 && /\b(files?|attach\w*|kind)\b/i.test(message))
    return 'check with pwpush version whether the instance accepts files (features.pushes.file_attachments)';
  return undefined;
}
