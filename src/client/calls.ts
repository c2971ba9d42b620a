import { commercialRoutes, type Route, requestRoutes, routes } from '../contract/api';

/** A call of API v2 and what a client may do with it. Retries, hints and outcomes follow from these rows. */
export interface Call extends Route {
  readonly subject: 'push' | 'request' | 'account';
  /**
   * It may be sent twice. A retrieval uses a view, a creation makes a second push, and a notification sends a second e-mail
   * (docs/wire.md, "What a retrieval costs").
   */
  readonly repeatable: boolean;
  /** After a 429 with `Retry-After` it is sent again: that refused it. A retrieval is not, which may have used a view. */
  readonly waitsOn429: boolean;
  /** An instance may allow it without a token. */
  readonly public?: boolean;
  /** It may require the passphrase of what it names. */
  readonly takesPassphrase?: boolean;
  /** What its response may hold, of which no message quotes anything; a secret is rescued from an unusable one. */
  readonly holds?: 'secret' | 'link';
  /** It ends what it names. */
  readonly ends?: boolean;
  /** What only the owner can do with it; "do that" if left out. */
  readonly ownersOnly?: string;
  /** What it may have done although no response says so, and how to find out. */
  readonly unclear?: string;
  /** The same where it was sent without a token. */
  readonly unclearWithoutToken?: string;
}

const read = { repeatable: true, waitsOn429: true } as const;
const change = { repeatable: false, waitsOn429: true } as const;
const take = { repeatable: false, waitsOn429: false, public: true, takesPassphrase: true } as const;

export const pushCalls = rows({
  version: { ...routes.version, ...read, subject: 'push', public: true },
  create: {
    ...routes.create,
    ...change,
    subject: 'push',
    public: true,
    holds: 'link',
    unclear: 'a push may exist: look for it with pwpush list and expire it before you push again',
    unclearWithoutToken:
      'a push may exist; without a token it cannot be looked up, and expires by its limits',
  },
  active: { ...routes.active, ...read, subject: 'push' },
  expired: { ...routes.expired, ...read, subject: 'push' },
  retrieve: {
    ...routes.retrieve,
    ...take,
    subject: 'push',
    holds: 'secret',
    unclear: 'a view may have been used: the owner can check with pwpush audit',
  },
  preview: { ...routes.preview, ...read, subject: 'push', public: true },
  audit: { ...routes.audit, ...read, subject: 'push', ownersOnly: 'read the audit log' },
  expire: {
    ...routes.expire,
    ...read,
    subject: 'push',
    public: true,
    ends: true,
    unclear: 'the push may have expired: run the command again to be sure',
  },
  notify: {
    ...routes.notify,
    ...change,
    subject: 'push',
    unclear: 'the e-mail may have been sent: check with pwpush audit',
  },
});

export const requestCalls = rows({
  create: {
    ...requestRoutes.create,
    ...change,
    subject: 'request',
    public: true,
    holds: 'link',
    unclear: 'a request may exist, but nobody has its link: look for it with pwpush requests',
  },
  open: { ...requestRoutes.open, ...read, subject: 'request' },
  ready: { ...requestRoutes.ready, ...read, subject: 'request' },
  closed: { ...requestRoutes.closed, ...read, subject: 'request' },
  read: {
    ...requestRoutes.read,
    ...take,
    subject: 'request',
    holds: 'secret',
    unclear: 'the answer may have been taken: the owner can check with pwpush audit',
  },
  preview: { ...requestRoutes.preview, ...read, subject: 'request', public: true },
  respond: {
    ...requestRoutes.respond,
    ...change,
    subject: 'request',
    public: true,
    holds: 'link',
    takesPassphrase: true,
    unclear: 'the answer may have arrived: ask the person who requested it',
  },
  audit: { ...requestRoutes.audit, ...read, subject: 'request', ownersOnly: 'read the audit log' },
  close: {
    ...requestRoutes.close,
    ...read,
    subject: 'request',
    public: true,
    ends: true,
    unclear: 'the request may have been closed: run the command again to be sure',
  },
});

export const accountsCall: Call = { ...commercialRoutes.accounts, ...read, subject: 'account' };

function rows<Name extends string>(table: Record<Name, Call>): Record<Name, Call> {
  return table;
}

/** Whether the path names a push or a request. */
export function namesOne({ path }: Call): boolean {
  return path.includes('/:token');
}

/** Whether a call changes something or uses a view, so that its response must not be lost. */
export function hasEffect({ method, repeatable }: Call): boolean {
  return method !== 'GET' || !repeatable;
}
