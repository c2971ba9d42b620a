import type { RouteName } from '../contract';
import { CliError, codeOfHttpStatus, failedError } from '../errors';
import { errorText, firstLine, isJson, quotable, sizeOnly } from './error-body';
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

/** What is known of a request that failed. */
export interface SentRequest extends TokenSource {
  readonly route: RouteName;
  readonly repeatable: boolean;
  /** It was sent with a token. */
  readonly authenticated: boolean;
  /** It was sent with a passphrase. */
  readonly passphrase: boolean;
  /** It was sent with files. */
  readonly files?: boolean;
  /** Secrets of the request, which no message repeats. */
  readonly secrets: readonly string[];
}

/** The error for an unsuccessful response, whose body may be empty, HTML or truncated. */
export function responseError(answer: ApiResponse, sent: SentRequest, now: Date): CliError {
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
    return failedError(`${title(sent)}: the instance redirects (${status}) instead of answering`, {
      status,
      hint: 'check the address',
    });
  const code = codeOfHttpStatus(status);
  const verb = code === 'rejected' ? 'the instance refused it' : `the instance failed (${status})`;
  return new CliError(code, `${title(sent)}: ${verb}${text === '' ? '' : `: ${text}`}`, {
    status,
    hint:
      status >= 500
        ? openOutcome(sent)
        : status === 413
          ? 'it is over the limit of the instance, or of a proxy in front of it'
          : undefined,
  });
}

function passphraseRefused({ passphrase }: SentRequest): CliError {
  return passphrase
    ? new CliError('passphrase', 'wrong passphrase', {
        status: 401,
        hint: 'ask the sender of the link; only a few attempts per minute are allowed',
      })
    : new CliError('passphrase', 'the push needs a passphrase', {
        status: 401,
        hint: 'use -p to type it, --passphrase-file PATH, or PWPUSH_PASSPHRASE',
      });
}

function unauthorized(answer: ApiResponse, sent: SentRequest, text: string): CliError {
  // Not `text`, in which what repeats a secret is left out.
  const raw = errorText(answer);
  if (sent.route === 'retrieve' && /passphrase/i.test(raw)) return passphraseRefused(sent);
  // The reference answers 401 where the specification has 403 (docs/wire.md, "Errors").
  if (sent.route === 'expire' && /delet/i.test(raw)) return forbidden(answer, sent, text);
  return sent.authenticated ? tokenRefused(sent) : tokenNeeded(sent);
}

function tokenRefused(sent: SentRequest): CliError {
  const publicCall = ['version', 'retrieve', 'preview', 'create', 'expire'].includes(sent.route);
  const { tokenFrom } = sent;
  const from = tokenFrom === undefined ? '' : ` from ${tokenFrom}`;
  const again = tokenFrom?.startsWith('profile ')
    ? ['log in again with pwpush login']
    : ['put a good one there', 'log in with pwpush login'];
  const ways = publicCall ? [...again, 'send no token with --anonymous'] : again;
  return new CliError('unauthorized', `${title(sent)}: the instance refused the token${from}`, {
    status: 401,
    hint: `${ways.slice(0, -1).join(', ')}${ways.length > 1 ? ', or ' : ''}${ways.at(-1)}`,
  });
}

function tokenNeeded(sent: SentRequest): CliError {
  if (sent.anonymous)
    return new CliError(
      'unauthorized',
      `${title(sent)}: needs a token, and --anonymous sends none`,
      {
        status: 401,
        hint: 'leave --anonymous out',
      },
    );
  return new CliError('unauthorized', `${title(sent)}: the instance requires a token`, {
    status: 401,
    hint: sent.tokenHint ?? 'log in with pwpush login, or set PWPUSH_TOKEN',
  });
}

function forbidden(answer: ApiResponse, sent: SentRequest, text: string): CliError {
  const status = answer.status;
  // Instances before July 2024 throttle with 403 and a text body (docs/wire.md, "Editions and versions").
  if (!isJson(answer) && /throttl|too many|retry later|rate limit/i.test(text))
    return new CliError('rate_limited', 'the instance limits how often it is asked', { status });
  const owner =
    sent.route === 'audit' ? 'only its owner may read the audit log' : 'only its owner may do that';
  return new CliError('forbidden', `${title(sent)}: ${text === '' ? owner : text}`, {
    status,
    hint: ownersHint(sent),
  });
}

/** The answer does not name the owner; a push created without a token has none. */
function ownersHint({ authenticated, anonymous, tokenHint, route }: SentRequest): string {
  if (authenticated) return 'the token belongs to another user, or the push was made without one';
  if (anonymous) return 'if it is yours, leave --anonymous out';
  if (tokenHint !== undefined) return tokenHint;
  const ownerless = route === 'expire' ? 'it ends by its own limits' : 'nobody may';
  return `use the token of who made it (pwpush login); if it was made without one, ${ownerless}`;
}

function notFound(answer: ApiResponse, sent: SentRequest, text: string): CliError {
  const status = 404;
  const onPush = !['version', 'create', 'active', 'expired'].includes(sent.route);
  if (onPush && (isJson(answer) || text === '')) {
    return new CliError('not_found', 'there is no such push on this instance', {
      status,
      hint: 'check the link for missing characters, and the instance with pwpush version',
    });
  }
  const words = text === '' || /^not.found$/i.test(text) ? '' : `: ${text}`;
  return new CliError('not_found', `${title(sent)}: there is no API v2 at this address${words}`, {
    status,
    hint: 'check the address and its path; API v2 needs Password Pusher 2.4 or later',
  });
}

function rateLimited(answer: ApiResponse, text: string, now: Date): CliError {
  const seconds = retryAfter(header(answer, 'retry-after'), now);
  return new CliError(
    'rate_limited',
    `the instance limits how often it is asked${text === '' ? '' : `: ${text}`}`,
    {
      status: 429,
      hint: seconds === undefined ? 'try again later' : `try again in ${seconds} s`,
    },
  );
}

/** Commands that are not named like their route. */
const commandOf: Partial<Record<RouteName, string>> = {
  create: 'push',
  retrieve: 'get',
  active: 'list',
  expired: 'list',
};

/** The command, as the start of a message. */
function title({ route }: SentRequest): string {
  return commandOf[route] ?? route;
}

/** A hint at what the instance may have done although no answer says so. */
function openOutcome({ route, authenticated }: SentRequest): string | undefined {
  if (route === 'create')
    return authenticated
      ? 'a push may exist: before you push again, look for it with pwpush list and expire it'
      : 'a push may exist; made without a token it cannot be looked up, and ends by its own limits';
  if (route === 'retrieve') return 'a view may have been used: pwpush audit tells its owner';
  if (route === 'notify') return 'the e-mail may have been sent: pwpush audit shows it if so';
  return undefined;
}

/** The error for a response that is too long to be read. */
export function tooLong(failure: AnswerTooLong, sent: SentRequest): CliError {
  return new CliError(
    sent.repeatable ? 'failed' : 'unknown',
    `${title(sent)}: ${failure.message}`,
    {
      status: failure.status,
      hint: openOutcome(sent),
    },
  );
}

/** The error for a request without a response: unreachable if nothing was sent, else an unknown outcome. */
export function transportFailure(failure: TransportError, sent: SentRequest): CliError {
  if (!failure.sent)
    return new CliError('unreachable', failure.message, { hint: failure.hint, cause: failure });
  const again =
    sent.route === 'expire' ? 'the push may have been expired: run it again to be sure' : undefined;
  return new CliError('unknown', failure.message, {
    hint: openOutcome(sent) ?? again ?? failure.hint,
    cause: failure,
  });
}

/** The error for a success whose body does not match its schema. */
export function malformed(answer: ApiResponse, sent: SentRequest): CliError {
  const text = mayQuote(answer, sent) ? firstLine(answer) : sizeOnly(answer);
  const quoted = quotable(text, sent.secrets);
  const what = `${title(sent)}: the instance answered ${answer.status}, but not with what the API describes: ${quoted}`;
  // JSON, even if invalid, comes from the instance and not from a proxy: the push exists, or the view is used.
  const open = !sent.repeatable && (isJson(answer) || answer.status === 201);
  return new CliError(open ? 'unknown' : 'failed', what, {
    status: answer.status,
    hint:
      openOutcome(sent) ??
      'is this address an instance of Password Pusher, and is there a proxy in between?',
    unread: sent.route === 'retrieve' && isJson(answer) ? answer.body : undefined,
  });
}

/** A page can be quoted; any other body of a retrieval or creation may be the secret or the link. */
function mayQuote(answer: ApiResponse, { route }: SentRequest): boolean {
  const page = /^\s*<(!doctype|html|h\d|p|head|body)\b/i.test(
    answer.body.subarray(0, 256).toString('latin1'),
  );
  return page || (route !== 'retrieve' && route !== 'create');
}

/** The error for a refused push with files: always in the instance's words, with a hint about files. */
function filesRefused(failure: CliError, text: string, sent: SentRequest): CliError {
  const { code, status, cause } = failure;
  const message =
    text === '' || failure.message.includes(text) ? failure.message : `${failure.message}: ${text}`;
  const hint = filesHint(status, message, sent) ?? failure.hint;
  return new CliError(code, message, { status, hint, cause });
}

function filesHint(
  status: number | undefined,
  message: string,
  { authenticated, anonymous }: SentRequest,
): string | undefined {
  if ((status === 401 || status === 403) && anonymous)
    return 'attaching files needs a token there: leave --anonymous out';
  if ((status === 401 || status === 403) && !authenticated)
    return 'attaching files needs a token there: log in with pwpush login, or set PWPUSH_TOKEN';
  if (status === 413)
    return 'the files are over a limit of the instance (pwpush serve: --max-file-size) or of a proxy in front of it';
  if (status === 422 && /\b(files?|attach\w*|kind)\b/i.test(message))
    return 'pwpush version tells whether the instance takes files (features.pushes.file_attachments)';
  return undefined;
}
