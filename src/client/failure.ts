import { webAddress } from '../contract/address';
import { IDENTITY_NEEDED, LINK_INCOMPLETE } from '../contract/api';
import { size } from '../contract/byte-size';
import {
  CliError,
  type ErrorCode,
  type Fact,
  failedError,
  phrase,
  type Step,
} from '../platform/errors';
import type { FactName } from '../words/facts';
import type { StepName } from '../words/steps';
import type { CallDetails, SentCall } from './api-settings';
import { namesOne, noRequests } from './calls';
import { bodyFact, isJson, objectIn, quotable, saidBy, textOf } from './error-body';
import { TransportError } from './transport/network-errors';
import { LeavesOrigin, loginStep } from './transport/redirects';
import { ResponseTooLong, retryAfter, type WholeResponse } from './transport/response';

/** Secrets of the request, which no message repeats. */
function secretsOf({ settings: { token, headers = {} }, details }: SentCall): string[] {
  const { keyProof, query, secrets = [] } = details;
  const all = [token, keyProof, query?.passphrase, ...Object.values(headers), ...secrets];
  return all.filter((secret) => secret !== undefined);
}

/**
 * The error of a call that may have had its effect although no response says so. A response, even an unusable one, to a call
 * that has none leaves nothing open.
 * @param lost there is no response
 */
function openOutcome(
  failure: CliError,
  { call: { retry, unclear, unclearWithoutToken }, settings: { token } }: SentCall,
  lost = false,
): CliError {
  if (retry.resent === 'if-lost' && !lost) return failure;
  const step = (token === undefined ? unclearWithoutToken : undefined) ?? unclear;
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

/** A response that does not do what was asked, and what it says as it may be quoted. */
interface Refusal extends SentCall {
  readonly response: WholeResponse;
  readonly status: number;
  readonly said: readonly Fact[];
}

export type Explain = (refusal: Refusal) => CliError;

export function refusalOf(response: WholeResponse, sent: SentCall): Refusal {
  const { status } = response;
  return { ...sent, response, status, said: quotable(saidBy(response), secretsOf(sent)) };
}

/** The error for a request without a whole response: unreachable if nothing was sent, else an open outcome. */
export function lost(error: CliError, sent: SentCall): CliError {
  const { fromLink, base, addressHint } = sent.settings;
  if (error instanceof LeavesOrigin && fromLink)
    return error.withAdvice((there) => phrase('replace-in-link', there, base));
  if (error instanceof ResponseTooLong) return openOutcome(error, sent);
  if (!(error instanceof TransportError)) return error;
  if (error.sent) return openOutcome(error, sent, true);
  return addressHint === undefined ? error : error.advising(addressHint);
}

export const needsCertificate = plain('failed', 'certificate-needed-here', 'send-certificate');

export const loginAt =
  (cloudflare: boolean): Explain =>
  ({ status, settings: { headers = {} } }) => {
    const step = loginStep(cloudflare, Object.keys(headers));
    return errorOf('failed', status, phrase('login-page', status), phrase(step));
  };

export function inFront({ status, said, settings: { base } }: Refusal): CliError {
  const fact = phrase('in-front', new URL(base).host, status, ...said);
  return errorOf('failed', status, fact, phrase('pass-front'));
}

export function broken(refusal: Refusal): CliError {
  return openOutcome(failed(refusal), refusal);
}

export function throttled(refusal: Refusal): CliError {
  return aboutFiles(plain('rate_limited', 'rate-limited')(refusal), refusal);
}

export function refused(refusal: Refusal): CliError {
  return aboutFiles((byStatus[refusal.status] ?? failed)(refusal), refusal);
}

const byStatus: Readonly<Record<number, Explain>> = {
  400: rejected,
  401: unauthorized,
  403: forbidden,
  404: notFound,
  // The first answer is the only one (docs/wire.md, "Requests").
  409: ofRequest(plain('rejected', 'answered-already', 'ask-requester'), rejected),
  410: ofRequest(plain('expired', 'request-closed', 'ask-for-new-link'), failed),
  412: (refusal) =>
    objectIn(refusal.response).error === IDENTITY_NEEDED
      ? plain('passphrase', 'sealed-to-key', 'give-identity-first')(refusal)
      : failed(refusal),
  413: rejected,
  422: rejected,
  429: rateLimited,
};

function ofRequest(explain: Explain, ofPush: Explain): Explain {
  return (refusal) => (refusal.call.subject === 'request' ? explain : ofPush)(refusal);
}

function plain(code: ErrorCode, fact: FactName, step?: StepName): Explain {
  return ({ status }) => errorOf(code, status, phrase(fact), step && phrase(step));
}

function errorOf(code: ErrorCode, status: number, fact: Fact, steps?: Step): CliError {
  return new CliError(code, fact, { status, steps });
}

function failed({ status, said }: Refusal): CliError {
  if (status < 400)
    return errorOf('failed', status, phrase('redirects', status), phrase('check-address'));
  return errorOf('failed', status, phrase('failed', status, ...said));
}

function rejected({ status, said }: Refusal): CliError {
  const isLong = /\bpayload is too (?:long|large)\b/.test(textOf(said));
  const steps = status === 413 ? phrase('heed-size') : isLong ? phrase('attach') : undefined;
  return errorOf('rejected', status, phrase('refused', ...said), steps);
}

function unauthorized(refusal: Refusal): CliError {
  const { response, status, call, details, settings } = refusal;
  const { token, tokenFrom = '', tokenHint = phrase('log-in') } = settings;
  // Not `said`, in which what repeats a secret is left out.
  const raw = textOf(saidBy(response));
  if (call.takesPassphrase && /passphrase/i.test(raw)) {
    if (isWithPassphrase(details))
      return plain('passphrase', 'passphrase-wrong', 'ask-for-passphrase')(refusal);
    const needed = phrase('passphrase-needed', call.subject);
    return errorOf('passphrase', status, needed, phrase('give-passphrase'));
  }
  // The reference responds with 401 where the specification has 403 (docs/wire.md, "Errors").
  if (call.ends && /delet/i.test(raw)) return forbidden(refusal);
  if (token !== undefined) {
    const step = settings.tokenOfProfile ? 'renew-login' : 'renew-token';
    const renew = phrase(step, call.public ? 'none' : '');
    return errorOf('unauthorized', status, phrase('token-refused', tokenFrom), renew);
  }
  return settings.anonymous
    ? plain('unauthorized', 'token-withheld', 'remove-anonymous')(refusal)
    : errorOf('unauthorized', status, phrase('token-needed'), tokenHint);
}

function isWithPassphrase({ query, body }: CallDetails): boolean {
  return query?.passphrase !== undefined || body instanceof URLSearchParams;
}

function forbidden(refusal: Refusal): CliError {
  const { response, status, call, said } = refusal;
  if (call.takesPassphrase && objectIn(response).error === LINK_INCOMPLETE)
    return proofWanted(refusal);
  const fact =
    said.length === 0 ? phrase(call.ownersOnly ?? 'owners-only') : phrase('refused', ...said);
  return errorOf('forbidden', status, fact, ownersStep(refusal));
}

function proofWanted(refusal: Refusal): CliError {
  const { key_salt, opens_at } = objectIn(refusal.response);
  const sent = refusal.details.keyProof !== undefined;
  const salt = typeof key_salt === 'string' ? key_salt : undefined;
  // Where the link opens with the key that was proved, as the instance says.
  const opensAt = sent && typeof opens_at === 'string' ? webAddress(opens_at) : undefined;
  const [at] = opensAt ? quotable([opensAt.replace(/\/$/, '')], secretsOf(refusal)) : [];
  const elsewhere = typeof at === 'string';
  const [fact, steps] = elsewhere
    ? [phrase('opens-elsewhere', at), phrase('open-there')]
    : sent
      ? [phrase('key-refused'), phrase('compare-key-and-link')]
      : salt !== undefined
        ? [phrase('key-words-needed'), phrase('ask-for-words')]
        : [phrase('key-missing'), phrase('ask-for-link')];
  return new CliError('passphrase', fact, {
    status: 403,
    steps,
    wantsProof: { sent, salt, elsewhere },
  });
}

/** The response does not name the owner; a push created without a token has none. */
function ownersStep({ call, settings: { token, anonymous, tokenHint } }: Refusal): Step {
  if (token !== undefined)
    return namesOne(call) ? phrase('check-owner', call.subject) : phrase('ask-administrator');
  if (anonymous) return phrase('remove-anonymous-of-owner');
  if (tokenHint !== undefined) return tokenHint;
  if (!namesOne(call)) return phrase('log-in');
  return phrase('log-in-as-owner', call.ends ? 'expires' : '');
}

function notFound({ response, status, call, said }: Refusal): CliError {
  if (namesOne(call) && (isJson(response) || said.length === 0))
    return errorOf('not_found', status, phrase('no-such', call.subject), phrase('check-link'));
  if (call.subject === 'request') return noRequests(status);
  const more = /^not.found$/i.test(textOf(said)) ? [] : said;
  return errorOf('not_found', status, phrase('no-api', ...more), phrase('check-api'));
}

function rateLimited({ response, status, said, settings }: Refusal): CliError {
  const seconds = retryAfter(response, settings.now());
  const later = phrase('try-later', seconds || '');
  return errorOf('rate_limited', status, phrase('rate-limited', ...said), later);
}

/** The error for a success whose body does not match its schema. */
export function malformed(refusal: Refusal): CliError {
  const { response, status, call } = refusal;
  // There is no secret and no link in a page.
  const isPage = /^\s*<(!doctype|html|h\d|p|head|body)\b/i.test(
    response.body.toString('latin1', 0, 256),
  );
  const body = bodyFact(response, isPage || !(call.holds || isJson(response)));
  const rescued = call.holds === 'secret' && !isPage && response.body.length > 0;
  const failure = failedError(
    phrase('unexpected', status, ...quotable([body], secretsOf(refusal))),
    {
      status,
      steps: phrase('check-instance'),
      unread: rescued ? response.body : undefined,
    },
  );
  return openOutcome(failure, refusal);
}

/** A refusal of a push with files is about them. */
function aboutFiles(failure: CliError, refusal: Refusal): CliError {
  const { details, settings, status, said } = refusal;
  const [largest] = (details.form?.files ?? []).toSorted((a, b) => b.size - a.size);
  if (largest === undefined) return failure;
  if ((status === 401 || status === 403) && settings.token === undefined)
    return failure.with({
      facts: status === 401 ? phrase('files-need-token') : failure.facts,
      steps: phrase(settings.anonymous ? 'remove-anonymous' : 'log-in'),
    });
  if (status === 413) {
    const which = `"${largest.shownAs ?? largest.name}" (${size(largest.size)})`;
    const count = details.form?.files.length ?? 0;
    return failure.with({ steps: phrase('heed-size-of-files', which, count) });
  }
  const isOfFiles = status === 422 && /\b(files?|attach\w*|kind)\b/i.test(textOf(said));
  return isOfFiles ? failure.with({ steps: phrase('check-features') }) : failure;
}
