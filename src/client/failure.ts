import { webAddress } from '../contract/address';
import { IDENTITY_NEEDED, LINK_INCOMPLETE } from '../contract/api';
import { size } from '../contract/byte-size';
import { CliError, type Fact, failedError, phrase, type Step } from '../platform/errors';
import { type Call, namesOne, noRequests } from './calls';
import { firstLine, isJson, objectIn, quotable, saidBy, sizeOnly, textOf } from './error-body';
import type { Attachment } from './form';
import { isInFront, isThrottling } from './outcome';
import { accessPage } from './transport/access-proxy';
import { retryAfter } from './transport/call';
import type { TransportError } from './transport/network-errors';
import { header, isSuccess, ResponseTooLong, type WholeResponse } from './transport/response';

/** For the messages when a token is refused or missing. */
export interface TokenSource {
  readonly tokenFrom?: string | undefined;
  /** What to do if none is sent, but could be. */
  readonly tokenHint?: Step | undefined;
  /** The user asked for no token to be sent. */
  readonly anonymous?: boolean | undefined;
}

/** What is known of a request that failed, besides its call. */
export interface SentRequest extends TokenSource {
  readonly host: string;
  /** Where its address is from. */
  readonly addressHint?: Step | undefined;
  /** Sent with a token. */
  readonly authenticated: boolean;
  readonly passphrase: boolean;
  readonly proved: boolean;
  readonly files: readonly Attachment[];
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
  const said = quotable(saidBy(response), sent.secrets);
  const { status } = response;
  if (isInFront(response))
    return failedError(phrase('in-front', sent.host, status, ...said), {
      status,
      steps: phrase('pass-front'),
    });
  const failure = statusError({ response, call, sent, said, now });
  return sent.files.length > 0 ? filesRefused(failure, said, sent) : failure;
}

/** The error for a request without a whole response: unreachable if nothing was sent, else an open outcome. */
export function explainLoss(
  failure: TransportError | ResponseTooLong,
  call: Call,
  sent: SentRequest,
): CliError {
  if (failure instanceof ResponseTooLong) {
    const { status } = failure;
    return openOutcome(failedError(phrase('response-too-long'), { status }), call, sent);
  }
  if (failure.sent) return openOutcome(failure, call, sent, true);
  return sent.addressHint === undefined ? failure : failure.advising(sent.addressHint);
}

/**
 * The error of a call that may have had its effect although no response says so. A response, even an unusable one, to a call
 * that has none leaves nothing open.
 * @param lost there is no response
 */
function openOutcome(
  failure: CliError,
  { repeatable, ends, unclear, unclearWithoutToken }: Call,
  { authenticated }: SentRequest,
  lost = false,
): CliError {
  if (repeatable && !ends && !lost) return failure;
  const step = (authenticated ? undefined : unclearWithoutToken) ?? unclear;
  return failure.with({ code: 'unknown', ...(step && { steps: phrase(step) }) });
}

/** Whether a call that failed may succeed later, as far as its error says. */
export function isTemporary(error: unknown): error is CliError {
  if (!(error instanceof CliError)) return false;
  const { code, status = 0, facts } = error;
  // A page in place of a response: of a proxy, for as long as the instance is away.
  const isPage = facts.some((fact) => typeof fact === 'object' && fact.name === 'unexpected');
  return isPage || ['unreachable', 'unknown', 'rate_limited'].includes(code) || status >= 500;
}

/** An unsuccessful response, and what it says as it may be quoted. */
interface Refusal {
  readonly response: WholeResponse;
  readonly call: Call;
  readonly sent: SentRequest;
  readonly said: readonly Fact[];
  readonly now: Date;
}

function statusError(refusal: Refusal): CliError {
  const { response, call, sent, said } = refusal;
  const { status } = response;
  if (status === 401) return unauthorized(refusal);
  if (status === 403) return forbidden(refusal);
  if (status === 404) return notFound(refusal);
  if (status === 412 && objectIn(response).error === IDENTITY_NEEDED)
    return new CliError('passphrase', phrase('sealed-to-key'), {
      status,
      steps: phrase('give-identity-first'),
    });
  if (status === 429) return rateLimited(refusal);
  if (status >= 300 && status < 400)
    return failedError(phrase('redirects', status), { status, steps: phrase('check-address') });
  if (call.subject === 'request' && (status === 409 || status === 410)) return tooLate(status);
  if ([400, 409, 413, 422].includes(status))
    return new CliError('rejected', phrase('refused', ...said), {
      status,
      steps: sizeStep(status, said),
    });
  const failure = failedError(phrase('failed', status, ...said), { status });
  return status >= 500 ? openOutcome(failure, call, sent) : failure;
}

function sizeStep(status: number, said: readonly Fact[]): Step | undefined {
  if (status === 413) return phrase('heed-size');
  return /\bpayload is too (?:long|large)\b/.test(textOf(said)) ? phrase('attach') : undefined;
}

function passphraseRefused({ call, sent }: Refusal): CliError {
  const [fact, steps] = sent.passphrase
    ? [phrase('passphrase-wrong'), phrase('ask-for-passphrase')]
    : [phrase('passphrase-needed', call.subject), phrase('give-passphrase')];
  return new CliError('passphrase', fact, { status: 401, steps });
}

function unauthorized(refusal: Refusal): CliError {
  const { response, call, sent } = refusal;
  // Not `said`, in which what repeats a secret is left out.
  const raw = textOf(saidBy(response));
  if (call.takesPassphrase && /passphrase/i.test(raw)) return passphraseRefused(refusal);
  // The reference responds with 401 where the specification has 403 (docs/wire.md, "Errors").
  if (call.ends && /delet/i.test(raw)) return forbidden(refusal);
  return sent.authenticated ? tokenRefused(call, sent) : tokenNeeded(sent);
}

function tokenRefused(call: Call, { tokenFrom = '' }: SentRequest): CliError {
  return new CliError('unauthorized', phrase('token-refused', tokenFrom), {
    status: 401,
    steps: phrase('renew-token', tokenFrom, call.public ? 'none' : ''),
  });
}

function tokenNeeded({ anonymous, tokenHint }: SentRequest): CliError {
  return new CliError('unauthorized', phrase(anonymous ? 'token-withheld' : 'token-needed'), {
    status: 401,
    steps: anonymous ? phrase('remove-anonymous') : (tokenHint ?? phrase('log-in')),
  });
}

function forbidden({ response, call, sent, said }: Refusal): CliError {
  const { status } = response;
  const { error, key_salt, opens_at } = objectIn(response);
  if (call.takesPassphrase && error === LINK_INCOMPLETE) {
    const salt = typeof key_salt === 'string' ? key_salt : undefined;
    const opensAt = sent.proved && typeof opens_at === 'string' ? webAddress(opens_at) : undefined;
    const [at] = opensAt ? quotable([opensAt.replace(/\/$/, '')], sent.secrets) : [];
    return proofWanted(sent.proved, salt, typeof at === 'string' ? at : undefined);
  }
  if (isThrottling(response))
    return new CliError('rate_limited', phrase('rate-limited'), { status });
  const ours = phrase(call.ownersOnly ?? 'owners-only');
  return new CliError('forbidden', said.length === 0 ? ours : phrase('refused', ...said), {
    status,
    steps: ownersStep(call, sent),
  });
}

/** @param opensAt where the link opens with the key that was proved, as the instance says */
function proofWanted(sent: boolean, salt?: string, opensAt?: string): CliError {
  const [fact, steps] = opensAt
    ? [phrase('opens-elsewhere', opensAt), phrase('open-there')]
    : sent
      ? [phrase('key-refused'), phrase('compare-key-and-link')]
      : salt !== undefined
        ? [phrase('key-words-needed'), phrase('ask-for-words')]
        : [phrase('key-missing'), phrase('ask-for-link')];
  const wantsProof = { sent, salt, elsewhere: opensAt !== undefined };
  return new CliError('passphrase', fact, { status: 403, steps, wantsProof });
}

/** The response does not name the owner; a push created without a token has none. */
function ownersStep(call: Call, { authenticated, anonymous, tokenHint }: SentRequest): Step {
  if (authenticated)
    return namesOne(call) ? phrase('check-owner', call.subject) : phrase('ask-administrator');
  if (anonymous) return phrase('remove-anonymous-of-owner');
  if (tokenHint !== undefined) return tokenHint;
  if (!namesOne(call)) return phrase('log-in');
  return phrase('log-in-as-owner', call.ends ? 'expires' : '');
}

function notFound({ response, call, said }: Refusal): CliError {
  const status = 404;
  const { subject } = call;
  if (namesOne(call) && (isJson(response) || said.length === 0))
    return new CliError('not_found', phrase('no-such', subject), {
      status,
      steps: phrase('check-link'),
    });
  if (subject === 'request') return noRequests(status);
  const more = /^not.found$/i.test(textOf(said)) ? [] : said;
  return new CliError('not_found', phrase('no-api', ...more), {
    status,
    steps: phrase('check-api'),
  });
}

/** The first answer is the only one (docs/wire.md, "Requests"). */
function tooLate(status: 409 | 410): CliError {
  return status === 409
    ? new CliError('rejected', phrase('answered-already'), {
        status,
        steps: phrase('ask-requester'),
      })
    : new CliError('expired', phrase('request-closed'), {
        status,
        steps: phrase('ask-for-new-link'),
      });
}

function rateLimited({ response, said, now }: Refusal): CliError {
  const seconds = retryAfter(header(response, 'retry-after'), now);
  return new CliError('rate_limited', phrase('rate-limited', ...said), {
    status: 429,
    steps: seconds ? phrase('try-later', seconds) : phrase('try-later'),
  });
}

/** The error for a success whose body does not match its schema. */
function malformed(response: WholeResponse, call: Call, sent: SentRequest): CliError {
  const { status } = response;
  const mayHold = call.holds || isJson(response);
  const body = mayHold && !isPage(response) ? sizeOnly(response) : firstLine(response);
  const said = quotable([body], sent.secrets);
  const rescued = call.holds === 'secret' && !isPage(response) && response.body.length > 0;
  const failure = failedError(phrase('unexpected', status, ...said), {
    status,
    steps: phrase('check-instance'),
    unread: rescued ? response.body : undefined,
  });
  return openOutcome(failure, call, sent);
}

/** Whether a body is an HTML page, in which there is no secret and no link. */
function isPage({ body }: WholeResponse): boolean {
  const start = body.subarray(0, 256).toString('latin1');
  return /^\s*<(!doctype|html|h\d|p|head|body)\b/i.test(start);
}

/** The error for a refused push with files, with a step about files. */
function filesRefused(failure: CliError, said: readonly Fact[], sent: SentRequest): CliError {
  const tokenless = failure.status === 401 && !sent.authenticated;
  return failure.with({
    facts: tokenless ? phrase('files-need-token') : failure.facts,
    steps: filesStep(failure.status, textOf(said), sent) ?? failure.steps,
  });
}

function filesStep(
  status: number | undefined,
  said: string,
  { authenticated, anonymous, files }: SentRequest,
): Step | undefined {
  if ((status === 401 || status === 403) && !authenticated)
    return phrase(anonymous ? 'remove-anonymous' : 'log-in');
  const [largest] = files.toSorted((a, b) => b.size - a.size);
  if (status === 413 && largest)
    return phrase(
      'heed-size-of-files',
      `"${largest.shownAs ?? largest.name}" (${size(largest.size)})`,
      files.length,
    );
  if (status === 422 && /\b(files?|attach\w*|kind)\b/i.test(said)) return phrase('check-features');
  return undefined;
}
