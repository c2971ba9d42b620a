/** Why a request is refused; `http/responses` maps each to a status. */
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
  /** Messages by field, for invalid values. */
  readonly fields?: Readonly<Record<string, string[]>>;
  /** Seconds. */
  readonly retryAfter?: number;
  /** Passphrase attempts left before the client has to wait. */
  readonly triesLeft?: number;
}

/** A refused request, with a message for its sender. */
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

/** The request may succeed a few seconds later. */
export function busy(message: string): Refusal {
  return new Refusal('busy', message, { retryAfter: 5 });
}

/** The database cannot be reached. */
export function away(): Refusal {
  return new Refusal('away', 'The database is away. Try again later.', { retryAfter: 5 });
}

/** The disk has too little space. */
export function full(): Refusal {
  const message = 'The instance is short of disk space. Try again later.';
  return new Refusal('full', message, { retryAfter: 60 });
}

/** The client has disconnected; nobody reads this. */
export function abandoned(): Refusal {
  return new Refusal('abandoned', 'The client has gone.');
}

/** Invalid values, with messages by field. */
export function invalid(fields: Record<string, string[]>): Refusal {
  return new Refusal('invalid', 'invalid', { fields });
}
