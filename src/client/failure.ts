import type { commercialRoutes, RouteName } from '../contract/api';
import { CliError, codeOfHttpStatus, type ErrorDetails, failedError } from '../platform/errors';
import { errorText, firstLine, isJson, quotable, sizeOnly } from './error-body';
import { accessPage } from './transport/access-proxy';
import { type AnswerTooLong, type ApiResponse, header, retryAfter } from './transport/call';
import type { TransportError } from './transport/network-errors';

/** For the messages when a token is refused or missing. */
export interface TokenSource {
  /** Where the token is from. */
  readonly tokenFrom?: string | undefined;
  /** What to do if none is sent, but could be. */
  readonly tokenHint?: string | undefined;
  /** The user asked for no token to be sent. */
  readonly anonymous?: boolean | undefined;
}

/** What a request does: a route of pushes, or that of a request which is its like. */
export type CallName = RouteName | keyof typeof commercialRoutes | 'respond';

/** What is known of a request that failed. */
export interface SentRequest extends TokenSource {
  readonly call: CallName;
  /** What it is about. */
  readonly noun: 'push' | 'request';
  readonly repeatable: boolean;
  /** It was sent with a token. */
  readonly authenticated: boolean;
  /** It was sent with a passphrase. */
  readonly passphrase: boolean;
  /** It was sent with files. */
  readonly files?: boolean;
  /** Secrets of the request, which no message repeats. */
  readonly secrets: readonly string[];
  /** Names of the user's headers that it was sent with. */
  readonly headers?: readonly string[];
}

/** The error for an unsuccessful response, whose body may be empty, HTML or truncated. */
export function responseError(answer: ApiResponse, sent: SentRequest, now: Date): CliError {
  const page = accessPage(answer, sent.headers ?? []);
  if (page) return page;
  const text = quotable(errorText(answer), sent.secrets);
  const failure = statusError(answer, sent, text, now);
  return sent.files ? filesRefused(failure, text, sent) : failure;
}

function statusError(answer: ApiResponse, sent: SentRequest, text: string, now: Date): CliError {
  const status = answer.status;
  if (status === 401) return unauthorized(answer, sent, text);
  if (status === 403) return forbidden(answer, sent, text);
  if (status === 404) return notFound(answer, sent, text);
  if (status === 429) return rateLimited(answer, text, now);
  if (status >= 300 && status < 400)
    return failedError(`the instance redirects (${status}) instead of responding`, {
      status,
      hint: 'check the address',
    });
  if (sent.noun === 'request' && (status === 409 || status === 410)) return tooLate(status);
  const code = codeOfHttpStatus(status);
  const verb =
    code === 'rejected' ? 'the instance refused the request' : `the instance failed (${status})`;
  const message = `${verb}${text === '' ? '' : `: ${text}`}`;
  if (status >= 500) return inconclusive(message, sent, { status });
  const hint =
    status === 413 ? 'it is larger than the instance or a proxy in front of it allows' : undefined;
  return new CliError(code, message, { status, hint });
}

/** The error of a call that may have had its effect, for all that its response says. */
function inconclusive(message: string, sent: SentRequest, details: ErrorDetails): CliError {
  const hint = openOutcome(sent);
  return hint === undefined
    ? failedError(message, details)
    : new CliError('unknown', message, { ...details, hint });
}

function passphraseRefused({ passphrase, noun }: SentRequest): CliError {
  return passphrase
    ? new CliError('passphrase', 'wrong passphrase', {
        status: 401,
        hint: 'ask the sender of the link; only a few attempts per minute are allowed',
      })
    : new CliError('passphrase', `the ${noun} requires a passphrase`, {
        status: 401,
        hint: 'use -p to type it, --passphrase-file PATH, or PWPUSH_PASSPHRASE',
      });
}

function unauthorized(answer: ApiResponse, sent: SentRequest, text: string): CliError {
  // Not `text`, in which what repeats a secret is left out.
  const raw = errorText(answer);
  if ((sent.call === 'retrieve' || sent.call === 'respond') && /passphrase/i.test(raw))
    return passphraseRefused(sent);
  // The reference answers 401 where the specification has 403 (docs/wire.md, "Errors").
  if (sent.call === 'expire' && /delet/i.test(raw)) return forbidden(answer, sent, text);
  return sent.authenticated ? tokenRefused(sent) : tokenNeeded(sent);
}

function tokenRefused(sent: SentRequest): CliError {
  const publicCall = ['version', 'retrieve', 'preview', 'create', 'expire', 'respond'].includes(
    sent.call,
  );
  const { tokenFrom } = sent;
  const from = tokenFrom === undefined ? '' : ` from ${tokenFrom}`;
  const again = tokenFrom?.startsWith('profile ')
    ? ['log in again with pwpush login']
    : ['set a valid one there', 'log in with pwpush login'];
  const ways = publicCall ? [...again, 'use --anonymous to send none'] : again;
  return new CliError('unauthorized', `the instance refused the token${from}`, {
    status: 401,
    hint: `${ways.slice(0, -1).join(', ')}${ways.length > 1 ? ', or ' : ''}${ways.at(-1)}`,
  });
}

function tokenNeeded(sent: SentRequest): CliError {
  if (sent.anonymous)
    return new CliError('unauthorized', 'this requires a token, and --anonymous sends none', {
      status: 401,
      hint: 'remove --anonymous',
    });
  return new CliError('unauthorized', 'the instance requires a token', {
    status: 401,
    hint: sent.tokenHint ?? 'log in with pwpush login, or set PWPUSH_TOKEN',
  });
}

function forbidden(answer: ApiResponse, sent: SentRequest, text: string): CliError {
  const status = answer.status;
  // Instances before July 2024 throttle with 403 and a text body (docs/wire.md, "Editions and versions").
  if (!isJson(answer) && /throttl|too many|retry later|rate limit/i.test(text))
    return new CliError('rate_limited', 'rate limited by the instance', { status });
  const owner =
    sent.call === 'audit' ? 'only the owner can read the audit log' : 'only the owner can do that';
  return new CliError(
    'forbidden',
    text === '' ? owner : `the instance refused the request: ${text}`,
    {
      status,
      hint: ownersHint(sent),
    },
  );
}

/** The answer does not name the owner; a push created without a token has none. */
function ownersHint({ authenticated, anonymous, tokenHint, call, noun }: SentRequest): string {
  if (authenticated && ofNoPush.has(call))
    return 'the token may not do that: ask the administrator of the instance';
  if (authenticated)
    return `the token belongs to another user, or the ${noun} was created without one`;
  if (anonymous) return 'if it is yours, remove --anonymous';
  if (tokenHint !== undefined) return tokenHint;
  const ownerless = call === 'expire' ? 'it can only expire by its limits' : 'nobody can';
  return `log in as its owner with pwpush login; if it was created without a token, ${ownerless}`;
}

/** Calls that name no push. */
const ofNoPush: ReadonlySet<CallName> = new Set([
  'version',
  'create',
  'active',
  'expired',
  'accounts',
]);

function notFound(answer: ApiResponse, sent: SentRequest, text: string): CliError {
  const status = 404;
  if (sent.call === 'accounts')
    return new CliError('not_found', 'this instance has no accounts', {
      status,
      hint: 'only the commercial edition has them',
    });
  if (!ofNoPush.has(sent.call) && (isJson(answer) || text === '')) {
    return new CliError('not_found', `no such ${sent.noun} on this instance`, {
      status,
      hint: 'check the link for missing characters, and the instance with pwpush version',
    });
  }
  if (sent.noun === 'request') return noRequests(status);
  const words = text === '' || /^not.found$/i.test(text) ? '' : `: ${text}`;
  return new CliError('not_found', `no API v2 at this address${words}`, {
    status,
    hint: 'check the address and its path; API v2 requires Password Pusher 2.4 or later',
  });
}

/** The first answer is the only one (docs/wire.md, "Requests"). */
function tooLate(status: 409 | 410): CliError {
  return status === 409
    ? new CliError('rejected', 'the request was answered already; your answer was not sent', {
        status,
        hint: 'ask the person who requested it',
      })
    : new CliError('expired', 'the request is closed', { status, hint: 'ask for a new link' });
}

/** The error of an instance that has no requests: the open-source edition before them, or one that switched them off. */
export function noRequests(status?: number): CliError {
  return new CliError('rejected', 'this instance has no requests', {
    status,
    hint: 'use pwpush receive, which needs no instance, or run your own with pwpush serve',
  });
}

function rateLimited(answer: ApiResponse, text: string, now: Date): CliError {
  const seconds = retryAfter(header(answer, 'retry-after'), now);
  return new CliError(
    'rate_limited',
    `rate limited by the instance${text === '' ? '' : `: ${text}`}`,
    {
      status: 429,
      hint: seconds === undefined ? 'try again later' : `try again in ${seconds} s`,
    },
  );
}

/** A hint at what the instance may have done although no answer says so. */
function openOutcome(sent: SentRequest): string | undefined {
  return sent.noun === 'push' ? openPushOutcome(sent) : openRequestOutcome(sent);
}

function openRequestOutcome({ call }: SentRequest): string | undefined {
  if (call === 'create')
    return 'a request may exist, but nobody has its link: look for it with pwpush requests';
  if (call === 'retrieve')
    return 'the answer may have been taken: the owner can check with pwpush audit';
  if (call === 'respond') return 'the answer may have arrived: ask the person who requested it';
  return undefined;
}

function openPushOutcome({ call, authenticated }: SentRequest): string | undefined {
  if (call === 'create')
    return authenticated
      ? 'a push may exist: look for it with pwpush list and expire it before you push again'
      : 'a push may exist; without a token it cannot be looked up, and expires by its limits';
  if (call === 'retrieve')
    return 'a view may have been used: the owner can check with pwpush audit';
  if (call === 'notify') return 'the e-mail may have been sent: check with pwpush audit';
  return undefined;
}

/** The error for a response that is too long to be read. */
export function tooLong(failure: AnswerTooLong, sent: SentRequest): CliError {
  return inconclusive(failure.message, sent, { status: failure.status });
}

/** The error for a request without a response: unreachable if nothing was sent, else an unknown outcome. */
export function transportFailure(failure: TransportError, sent: SentRequest): CliError {
  if (!failure.sent)
    return new CliError('unreachable', failure.message, { hint: failure.hint, cause: failure });
  const again =
    sent.call === 'expire'
      ? `the ${sent.noun} may have ${sent.noun === 'push' ? 'expired' : 'been closed'}: run the command again to be sure`
      : undefined;
  return new CliError('unknown', failure.message, {
    hint: openOutcome(sent) ?? again ?? failure.hint,
    cause: failure,
  });
}

/** The error for a success whose body does not match its schema. */
export function malformed(answer: ApiResponse, sent: SentRequest): CliError {
  const page = accessPage(answer, sent.headers ?? []);
  if (page) return page;
  const text = mayQuote(answer, sent) ? firstLine(answer) : sizeOnly(answer);
  const quoted = quotable(text, sent.secrets);
  const what = `the instance sent an unexpected response (${answer.status}): ${quoted}`;
  return inconclusive(what, sent, {
    status: answer.status,
    hint: 'check that this is the address of a Password Pusher instance, and for a proxy in between',
    unread:
      sent.call === 'retrieve' && isJson(answer) && answer.body.length > 0
        ? answer.body
        : undefined,
  });
}

/** A page can be quoted; any other body of a retrieval or creation may be the secret or the link. */
function mayQuote(answer: ApiResponse, { call }: SentRequest): boolean {
  const page = /^\s*<(!doctype|html|h\d|p|head|body)\b/i.test(
    answer.body.subarray(0, 256).toString('latin1'),
  );
  return page || !['retrieve', 'create', 'respond'].includes(call);
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
  const hint = filesHint(status, message, sent) ?? failure.hint;
  return new CliError(code, message, { status, hint, cause });
}

function filesHint(
  status: number | undefined,
  message: string,
  { authenticated, anonymous }: SentRequest,
): string | undefined {
  if ((status === 401 || status === 403) && anonymous) return 'remove --anonymous';
  if ((status === 401 || status === 403) && !authenticated)
    return 'log in with pwpush login, or set PWPUSH_TOKEN';
  if (status === 413)
    return 'the files are larger than the instance (pwpush serve: --max-file-size) or a proxy in front of it allows';
  if (status === 422 && /\b(files?|attach\w*|kind)\b/i.test(message))
    return 'check with pwpush version whether the instance accepts files (features.pushes.file_attachments)';
  return undefined;
}
