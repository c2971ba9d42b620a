import { commercialRoutes, type Route, requestRoutes, routes } from '../contract/api';
import { CliError, phrase } from '../platform/errors';
import type { StepName } from '../words/steps';

/** A call of API v2. Retries, hints and outcomes follow from these rows. */
export interface Call extends Route, Rules {
  readonly subject: 'push' | 'request';
}

interface Rules {
  /** Its path is that of a page, and not of the API. */
  readonly atPage?: boolean;
  /**
   * It may be sent twice. A retrieval uses a view, a creation makes a second push, and a notification sends a second e-mail
   * (docs/wire.md, "What a retrieval costs").
   */
  readonly repeatable: boolean;
  /** It has an `Idempotency-Key`, by which an instance that announces it does repetitions once. */
  readonly once?: boolean;
  /** After a 429 with `Retry-After` it is sent again: that refused it. A retrieval is not, which may have used a view. */
  readonly waitsOn429: boolean;
  /** An instance may allow it without a token. */
  readonly public?: boolean;
  /** It may require the passphrase of what it names. */
  readonly takesPassphrase?: boolean;
  /** Its response may hold this, of which no message quotes anything; a secret is rescued from an unusable one. */
  readonly holds?: 'secret' | 'link';
  /** It ends what it names. */
  readonly ends?: boolean;
  /** Says that only the owner can do this; `owners-only` if left out. */
  readonly ownersOnly?: 'owners-log';
  /** Says what it may have done although no response says so, and how to find out. */
  readonly unclear?: StepName;
  /** The same where it was sent without a token. */
  readonly unclearWithoutToken?: StepName;
}

const read = { repeatable: true, waitsOn429: true } as const;
const change = { repeatable: false, waitsOn429: true } as const;
const make = { ...change, once: true, public: true, holds: 'link' } as const;
const take = {
  repeatable: false,
  waitsOn429: false,
  once: true,
  public: true,
  takesPassphrase: true,
  holds: 'secret',
} as const;

export const pushCalls = calls('push', routes, {
  version: { ...read, public: true },
  create: {
    ...make,
    unclear: 'look-for-push',
    unclearWithoutToken: 'push-may-exist',
  },
  active: read,
  expired: read,
  retrieve: { ...take, unclear: 'check-viewed' },
  preview: { ...read, public: true },
  audit: { ...read, ownersOnly: 'owners-log' },
  expire: {
    ...read,
    public: true,
    takesPassphrase: true,
    ends: true,
    unclear: 'was-expired',
  },
  notify: { ...change, unclear: 'check-email-sent' },
});

/** The page of a link, as `pwpush serve` returns it to programs: without a token, also where the API requires one. */
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
  read: {
    ...take,
    unclear: 'check-taken',
    unclearWithoutToken: 'nothing-taken',
  },
  preview: { ...read, public: true },
  respond: {
    ...make,
    takesPassphrase: true,
    unclear: 'was-answered',
  },
  audit: { ...read, ownersOnly: 'owners-log' },
  close: {
    ...read,
    public: true,
    ends: true,
    unclear: 'was-closed',
  },
});

/** Asked of an instance that does not tell its edition. */
export const accountsCall: Call = { ...commercialRoutes.accounts, ...read, subject: 'push' };

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

/** Whether the path names a push or a request. */
export function namesOne({ path }: Call): boolean {
  return path.includes('/:token');
}

/** The error of an instance that has no requests: the open-source edition before them, or one that switched them off. */
export function noRequests(status?: number): CliError {
  const steps = phrase('request-without-instance');
  return new CliError('rejected', phrase('no-requests'), { status, steps });
}
