/** Why a request is not served; the HTTP side gives each its status. */
export type RefusalKind =
  | 'malformed'
  | 'unauthorized'
  | 'passphrase'
  | 'forbidden'
  | 'not_found'
  | 'too_large'
  | 'invalid'
  | 'too_many'
  | 'busy'
  | 'away'
  | 'full'
  | 'abandoned';

interface RefusalDetails {
  /** Messages by field, when values were refused. */
  readonly fields?: Readonly<Record<string, string[]>>;
  /** Seconds. */
  readonly retryAfter?: number;
  /** How many passphrases may still be tried before waiting. */
  readonly triesLeft?: number;
}

/** A request that is refused, in words that may be shown to whoever sent it. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly kind: RefusalKind;
  readonly fields: Readonly<Record<string, string[]>>;
  readonly retryAfter: number | undefined;
  readonly triesLeft: number | undefined;

  constructor(kind: RefusalKind, message: string, details: RefusalDetails = {}) {
    super(message);
    this.kind = kind;
    this.fields = details.fields ?? {};
    this.retryAfter = details.retryAfter;
    this.triesLeft = details.triesLeft;
  }
}

export function notFound(): Refusal {
  return new Refusal('not_found', 'not-found');
}

/** What may well be done a few seconds later. */
export function busy(message: string): Refusal {
  return new Refusal('busy', message, { retryAfter: 5 });
}

/** The database is not to be reached. */
export function away(): Refusal {
  return new Refusal('away', 'The database is away. Try again later.', { retryAfter: 5 });
}

/** The disk has no room for what is to be written. */
export function full(): Refusal {
  const message = 'The instance is short of disk space. Try again later.';
  return new Refusal('full', message, { retryAfter: 60 });
}

/** What nobody waits for any more: nobody reads this. */
export function abandoned(): Refusal {
  return new Refusal('abandoned', 'The client has gone.');
}

/** Values that do not pass, with the messages by field. */
export function invalid(fields: Record<string, string[]>): Refusal {
  return new Refusal('invalid', 'invalid', { fields });
}
