import type { RouteName } from '../contract';
import { CliError, codeOfHttpStatus, type ErrorDetails } from '../errors';
import { describe, isJson, messageOf, sizeOf, tellable } from './error-body';
import { aboutFiles } from './files-refused';
import type { Answer, AnswerTooLong } from './transport/call';
import { retryAfter } from './transport/retry-after';
import { header, type TransportError } from './transport/transport';

/** What went out, as far as it matters for explaining what came back. */
export interface Asked {
  readonly call: RouteName;
  readonly repeatable: boolean;
  /** A token went along. */
  readonly authenticated: boolean;
  /** Where the token is from. */
  readonly tokenFrom?: string | undefined;
  /** A profile whose token would do. */
  readonly knownTo?: string | undefined;
  /** The user asked that no token goes along. */
  readonly anonymous?: boolean | undefined;
  /** A passphrase went along. */
  readonly passphrase: boolean;
  /** Files went along. */
  readonly files?: boolean;
  /** Secrets of the request; an instance that echoes one does not get it printed. */
  readonly secrets: readonly string[];
}

/** An answer that is not a success → the error that says so. Bodies may be empty, HTML or cut. */
export function failureOf(answer: Answer, asked: Asked, now: Date): CliError {
  const raw = messageOf(answer);
  const said = tellable(raw, asked.secrets);
  const failure = failureSaying(raw, said, answer, asked, now);
  return asked.files ? aboutFiles(failure, said, asked) : failure;
}

function failureSaying(
  raw: string,
  said: string,
  answer: Answer,
  asked: Asked,
  now: Date,
): CliError {
  const status = answer.status;
  if (status === 401) return unauthorized(answer, asked, raw, said);
  if (status === 403) return forbidden(answer, asked, said);
  if (status === 404) return notFound(answer, asked, said);
  if (status === 429) return rateLimited(answer, said, now);
  if (status >= 300 && status < 400)
    return error(
      'failed',
      `${title(asked)}: the instance redirects (${status}) where it should answer`,
      { status, hint: 'check the address' },
    );
  const code = codeOfHttpStatus(status);
  const verb = code === 'rejected' ? 'the instance refused it' : `the instance failed (${status})`;
  return error(code, `${title(asked)}: ${verb}${said === '' ? '' : `: ${said}`}`, {
    status,
    hint:
      status >= 500
        ? doubt(asked)
        : status === 413
          ? 'it is over the limit of the instance, or of a proxy in front of it'
          : undefined,
  });
}

const error = (
  code: ConstructorParameters<typeof CliError>[0],
  message: string,
  details: ErrorDetails,
) => new CliError(code, message, details);

function unauthorized(answer: Answer, asked: Asked, raw: string, said: string): CliError {
  const status = 401;
  if (asked.call === 'retrieve' && /passphrase/i.test(raw)) {
    return asked.passphrase
      ? error('passphrase', 'wrong passphrase', {
          status,
          hint: 'ask whoever sent the link; only a few tries a minute are allowed',
        })
      : error('passphrase', 'the push needs a passphrase', {
          status,
          hint: 'use -p to type it, --passphrase-file PATH, or PWPUSH_PASSPHRASE',
        });
  }
  // The reference answers 401 where the specification has 403 (docs/wire.md, "Errors").
  if (asked.call === 'expire' && /delet/i.test(raw)) return forbidden(answer, asked, said);
  return asked.authenticated ? tokenRefused(asked) : tokenNeeded(asked);
}

function tokenRefused(asked: Asked): CliError {
  const publicCall = ['version', 'retrieve', 'preview', 'create', 'expire'].includes(asked.call);
  const { tokenFrom } = asked;
  const from = tokenFrom === undefined ? '' : ` from ${tokenFrom}`;
  const again = tokenFrom?.startsWith('profile ')
    ? ['log in again with pwpush login']
    : ['put a good one there', 'log in with pwpush login'];
  const ways = publicCall ? [...again, 'send no token with --anonymous'] : again;
  return error('unauthorized', `${title(asked)}: the instance refused the token${from}`, {
    status: 401,
    hint: `${ways.slice(0, -1).join(', ')}${ways.length > 1 ? ', or ' : ''}${ways.at(-1)}`,
  });
}

function tokenNeeded(asked: Asked): CliError {
  if (asked.anonymous)
    return error('unauthorized', `${title(asked)}: needs a token, and --anonymous sends none`, {
      status: 401,
      hint: 'leave --anonymous out',
    });
  return error('unauthorized', `${title(asked)}: the instance wants a token`, {
    status: 401,
    hint:
      asked.knownTo === undefined
        ? 'log in with pwpush login, or set PWPUSH_TOKEN'
        : `profile "${asked.knownTo}" has one for it: --profile ${asked.knownTo}`,
  });
}

function forbidden(answer: Answer, asked: Asked, said: string): CliError {
  const status = answer.status;
  // Instances before July 2024 throttle with 403 and a text body (docs/wire.md, "Editions and versions").
  if (!isJson(answer) && /throttl|too many|retry later|rate limit/i.test(said))
    return error('rate_limited', 'the instance limits how often it is asked', { status });
  const owner =
    asked.call === 'audit' ? 'only its owner may read the audit log' : 'only its owner may do that';
  return error('forbidden', `${title(asked)}: ${said === '' ? owner : said}`, {
    status,
    hint: ownersHint(asked),
  });
}

/** Who made a push is not told; one made without a token is nobody's. */
function ownersHint({ authenticated, anonymous, knownTo, call }: Asked): string {
  if (authenticated) return 'the token belongs to another user, or the push was made without one';
  if (anonymous) return 'if it is yours, leave --anonymous out';
  if (knownTo !== undefined) return `profile "${knownTo}" has a token for it: --profile ${knownTo}`;
  const nobodys = call === 'expire' ? 'it ends by its own limits' : 'nobody may';
  return `use the token of who made it (pwpush login); if it was made without one, ${nobodys}`;
}

function notFound(answer: Answer, asked: Asked, said: string): CliError {
  const status = 404;
  const onPush = !['version', 'create', 'active', 'expired'].includes(asked.call);
  if (onPush && (isJson(answer) || said === '')) {
    return error('not_found', 'there is no such push on this instance', {
      status,
      hint: 'check the link for missing characters, and the instance with pwpush version',
    });
  }
  const words = said === '' || /^not.found$/i.test(said) ? '' : `: ${said}`;
  return error('not_found', `${title(asked)}: there is no API v2 at this address${words}`, {
    status,
    hint: 'check the address and its path; API v2 needs Password Pusher 2.4 or later',
  });
}

function rateLimited(answer: Answer, said: string, now: Date): CliError {
  const seconds = retryAfter(header(answer, 'retry-after'), now);
  return error(
    'rate_limited',
    `the instance limits how often it is asked${said === '' ? '' : `: ${said}`}`,
    {
      status: 429,
      hint: seconds === undefined ? 'try again later' : `try again in ${seconds} s`,
    },
  );
}

/** What failed, as the start of a sentence. */
function title(asked: Asked): string {
  const titles: Record<RouteName, string> = {
    version: 'version',
    create: 'push',
    active: 'list',
    expired: 'list',
    retrieve: 'get',
    preview: 'preview',
    audit: 'audit',
    expire: 'expire',
    notify: 'notify',
  };
  return titles[asked.call];
}

/** What may have been done although no answer says so, and what to do about it. */
function doubt({ call, authenticated }: Asked): string | undefined {
  if (call === 'create')
    return authenticated
      ? 'a push may exist: before you push again, look for it with pwpush list and expire it'
      : 'a push may exist; made without a token it cannot be looked up, and ends by its own limits';
  if (call === 'retrieve') return 'a view may have been used: pwpush audit tells its owner';
  if (call === 'notify') return 'the e-mail may have been sent: pwpush audit shows it if so';
  return undefined;
}

/** An answer too long to be read on: for a creation or retrieval the outcome is open. */
export function overlong(failure: AnswerTooLong, asked: Asked): CliError {
  return error(asked.repeatable ? 'failed' : 'unknown', `${title(asked)}: ${failure.message}`, {
    status: failure.status,
    hint: doubt(asked),
  });
}

/** A transport failure → unreachable when nothing can have happened, else an unknown outcome. */
export function transportFailure(failure: TransportError, asked: Asked): CliError {
  if (!failure.sent)
    return error('unreachable', failure.message, { hint: failure.hint, cause: failure });
  const again =
    asked.call === 'expire' ? 'the push may have been expired: run it again to be sure' : undefined;
  return error('unknown', failure.message, {
    hint: doubt(asked) ?? again ?? failure.hint,
    cause: failure,
  });
}

/** A success whose body is not what the contract says. What a retrieval answered is a secret: it is not quoted. */
export function nonsense(answer: Answer, asked: Asked): CliError {
  const said = mayQuote(answer, asked) ? describe(answer) : sizeOf(answer);
  const quoted = tellable(said, asked.secrets);
  const what = `${title(asked)}: the instance answered ${answer.status}, but not with what the API describes: ${quoted}`;
  // With JSON, however broken, the instance itself answered: the push exists, or the view is gone.
  const open = !asked.repeatable && (isJson(answer) || answer.status === 201);
  return error(open ? 'unknown' : 'failed', what, {
    status: answer.status,
    hint:
      doubt(asked) ??
      'is this address an instance of Password Pusher, and is there a proxy in between?',
    unread: asked.call === 'retrieve' && isJson(answer) ? answer.body : undefined,
  });
}

/** A page is quoted; whatever else came of a retrieval or creation may be the secret or the link. */
function mayQuote(answer: Answer, { call }: Asked): boolean {
  const page = /^\s*<(!doctype|html|h\d|p|head|body)\b/i.test(
    answer.body.subarray(0, 256).toString('latin1'),
  );
  return page || (call !== 'retrieve' && call !== 'create');
}
