import { commercialRoutes, type Route, requestRoutes, routes } from '../contract/api';
import { CliError } from '../platform/errors';

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
  /** Only the owner can do this with it; "do that" if left out. */
  readonly ownersOnly?: string;
  /** Says what it may have done although no response says so, and how to find out. */
  readonly unclear?: string;
  /** The same where it was sent without a token. */
  readonly unclearWithoutToken?: string;
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
    unclear: 'a push may exist: look for it with pwpush list and expire it before you push again',
    unclearWithoutToken:
      'a push may exist; without a token it cannot be looked up, and expires by its limits',
  },
  active: read,
  expired: read,
  retrieve: {
    ...take,
    unclear: 'a view may have been used: the owner can check with pwpush audit',
  },
  preview: { ...read, public: true },
  audit: { ...read, ownersOnly: 'read the audit log' },
  expire: {
    ...read,
    public: true,
    ends: true,
    unclear: 'the push may have expired: run the command again to be sure',
  },
  notify: { ...change, unclear: 'the e-mail may have been sent: check with pwpush audit' },
});

/** The page of a link, as `pwpush serve` returns it to programs: without a token, also where the API requires one. */
export const pageCall: Call = {
  ...pushCalls.retrieve,
  method: 'POST',
  path: '/p/:token',
  atPage: true,
};

export const requestCalls = calls('request', requestRoutes, {
  create: {
    ...make,
    unclear: 'a request may exist, but nobody has its link: look for it with pwpush list requests',
  },
  open: read,
  ready: read,
  closed: read,
  read: {
    ...take,
    unclear: 'the answer may have been taken: the owner can check with pwpush audit',
    unclearWithoutToken: 'no answer was taken or sent: run the command again',
  },
  preview: { ...read, public: true },
  respond: {
    ...make,
    takesPassphrase: true,
    unclear: 'the answer may have arrived: ask the person who requested it',
  },
  audit: { ...read, ownersOnly: 'read the audit log' },
  close: {
    ...read,
    public: true,
    ends: true,
    unclear: 'the request may have been closed: run the command again to be sure',
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
  return new CliError('rejected', 'this instance has no requests', {
    status,
    steps: 'use pwpush request --here, which needs no instance, or run your own with pwpush serve',
  });
}
