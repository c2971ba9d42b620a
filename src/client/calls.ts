import { accountsRoute, type Route, requestRoutes, routes } from '../contract/api';
import { CliError, phrase } from '../platform/errors';
import type { HintName } from '../words/hints';

/** A row from which retries, hints and outcomes of a call follow. */
export interface Call extends Route, Rules {
  readonly subject: 'push' | 'request';
}

interface Rules {
  readonly retry: RetryRules;
  readonly atPage?: boolean;
  /** An instance may allow the call without a token. */
  readonly public?: boolean;
  readonly takesPassphrase?: boolean;
  /** The response may contain this: no message quotes anything of it, and a secret is rescued from an unusable one. */
  readonly holds?: 'secret' | 'link';
  readonly ends?: boolean;
  /** The fact of a refusal without words; `owners-only` by default. */
  readonly ownersOnly?: 'owners-log';
  /** Says what the call may have done although no response says so, and how to find out. */
  readonly unclear?: HintName;
  /** Replaces `unclear` for a call without a token. */
  readonly unclearWithoutToken?: HintName;
}

/**
 * When a call is sent again. A retrieval uses a view, a creation makes a second push, and a notification sends a second
 * e-mail (docs/wire.md, "What a retrieval costs").
 */
interface RetryRules {
  /** A retrieval waits for no `Retry-After`: it may have used a view. */
  readonly waitsOn: readonly number[];
  /**
   * A call without harm from a second one is sent again if its response is lost, or also if the response leaves its
   * outcome open.
   */
  readonly resent?: 'if-lost' | 'if-open';
  /**
   * Seconds after the first request in which it is repeated, with the same `Idempotency-Key`, at an instance that does
   * repetitions once. The instance keeps a response with a secret for 120, another for 600 (docs/wire.md, "Requests
   * that are done once"), and the repetition has to arrive in time.
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
  notify: { retry: { waitsOn: [429] }, unclear: 'check-email-sent' },
});

/** `pwpush serve` returns the page of a link to programs, without a token also where its API requires one. */
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

/** Instances whose version does not tell their edition are known by this call. */
export const accountsCall: Call = { ...accountsRoute, ...read, subject: 'push' };

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

export function namesOne({ path }: Call): boolean {
  return path.includes('/:token');
}

/** The open-source edition before requests, and an instance that switched them off, respond so. */
export function noRequests(status?: number): CliError {
  const hints = phrase('request-without-instance');
  return new CliError('rejected', phrase('no-requests'), { status, hints });
}
