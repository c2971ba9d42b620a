import { accountsRoute, exchangeRoute, type Route, requestRoutes, routes } from '../contract/api';
import type { Push, SecretRequest } from '../contract/decode';
import { CliError, phrase } from '../platform/errors';
import type { HintName } from '../words/hints';

/** An endpoint of the API with the rules for retries, hints and errors of its calls. */
export interface Call extends Route, Rules {
  readonly subject: 'push' | 'request';
}

interface Rules {
  readonly retry: RetryRules;
  readonly atPage?: boolean;
  /** An instance may allow the call without a token. */
  readonly public?: boolean;
  readonly takesPassphrase?: boolean;
  /** What the response may contain. No message quotes such a response, and an invalid one with a secret is saved. */
  readonly holds?: 'secret' | 'link';
  readonly ends?: boolean;
  /** The fact of a 403 without an error text; `owners-only` by default. */
  readonly ownersOnly?: 'owners-log';
  /** Says what the call may have done although no response tells, and how to find out. */
  readonly unclear?: HintName;
  /** Replaces `unclear` for a call without a token. */
  readonly unclearWithoutToken?: HintName;
}

/** Each retrieval uses a view, and each creation makes a push (docs/wire.md, "What a retrieval costs"). */
interface RetryRules {
  /** Statuses after which the call waits for `Retry-After`. A retrieval has none, since it may have used a view. */
  readonly waitsOn: readonly number[];
  /** Set for a call that may be done twice. It is sent again if its response is lost or, with `if-open`, unclear. */
  readonly resent?: 'if-lost' | 'if-open';
  /**
   * Seconds after the first HTTP request within which it is repeated with the same `Idempotency-Key`, at an instance
   * that does repetitions once. They are fewer than the 120 for which the instance stores a response with a secret, and
   * the 600 for others (docs/wire.md, "Requests that are done once"): the repetition has to arrive in time.
   */
  readonly keyedFor?: number;
}

const read = { retry: { waitsOn: [429, 503], resent: 'if-lost' } } as const;
const end = { public: true, ends: true, retry: { ...read.retry, resent: 'if-open' } } as const;
const make = { public: true, holds: 'link', retry: { waitsOn: [429], keyedFor: 570 } } as const;
const take = {
  public: true,
  takesPassphrase: true,
  holds: 'secret',
  retry: { waitsOn: [], keyedFor: 90 },
} as const;

export const pushCalls = calls('push', routes, {
  version: { ...read, public: true },
  create: { ...make, unclear: 'look-for-push', unclearWithoutToken: 'push-may-exist' },
  active: read,
  expired: read,
  retrieve: { ...take, unclear: 'check-viewed' },
  preview: { ...read, public: true },
  audit: { ...read, ownersOnly: 'owners-log' },
  expire: { ...end, takesPassphrase: true, unclear: 'was-expired' },
});

/** `pwpush serve` returns a push as JSON at its page, too, and without a token even if the API requires one. */
export const pageCall: Call = {
  ...pushCalls.retrieve,
  method: 'POST',
  path: '/p/:token',
  atPage: true,
};

export const requestCalls = calls('request', requestRoutes, {
  create: { ...make, unclear: 'look-for-request' },
  open: read,
  ready: read,
  closed: read,
  read: { ...take, unclear: 'check-taken', unclearWithoutToken: 'nothing-taken' },
  preview: { ...read, public: true },
  respond: { ...make, takesPassphrase: true, unclear: 'was-answered' },
  audit: { ...read, ownersOnly: 'owners-log' },
  close: { ...end, unclear: 'was-closed' },
});

/** `askEdition` makes this call at an instance whose version does not tell its edition. */
export const accountsCall: Call = { ...accountsRoute, ...read, subject: 'push' };

/** An exchange whose response was lost is repeated: the first token ends by itself, and nobody has it. */
export const exchangeCall: Call = {
  ...exchangeRoute,
  ...read,
  public: true,
  holds: 'link',
  subject: 'push',
};

function calls<Name extends string>(
  subject: Call['subject'],
  paths: Readonly<Record<NoInfer<Name>, Route>>,
  rules: Readonly<Record<Name, Rules>>,
) {
  const rows = Object.entries<Rules>(rules).map(([name, rule]): [string, Call] => [
    name,
    { ...paths[name as Name], ...rule, subject },
  ]);
  return Object.fromEntries(rows) as Record<Name, Call>;
}

/** Whether its response has neither a secret nor a question. Something that lies may say so of what was just taken. */
export function isEmpty({ holds }: Call, value: unknown): boolean {
  const { payload, request, response, files } = value as Partial<Push & SecretRequest>;
  return holds === 'secret' && !payload && !request && !response && !files?.length;
}

export function namesOne({ path }: Call): boolean {
  return path.includes('/:token');
}

/** The error of an instance without requests: an old open-source edition, or an instance that switched them off. */
export function noRequests(status?: number): CliError {
  const hints = phrase('request-without-instance');
  return new CliError('rejected', phrase('no-requests'), { status, hints });
}
