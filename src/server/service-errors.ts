/** Why the service cannot run, for its operator: a port in use, a folder without write permission, a wrong key. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  /** How to fix it, without a final period. */
  readonly hint: string | undefined;
  /** A command that does what the hint says. */
  readonly command: string | undefined;
  /** Whether the input is invalid, rather than something on the machine. */
  readonly input: boolean;

  constructor(
    message: string,
    details: { hint?: string | undefined; command?: string; cause?: unknown; input?: boolean } = {},
  ) {
    super(message, { cause: details.cause });
    this.hint = details.hint;
    this.command = details.command;
    this.input = details.input ?? false;
  }
}

/** Thrown by what needs the data to itself. */
export function inUse(): ServiceError {
  return new ServiceError('the data is in use by a running service or another program', {
    hint: 'stop all services that use it, and start them again afterwards',
    input: true,
  });
}

/** The error code of the system (`EADDRINUSE`, `EACCES` …), or ''. */
export function systemCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** Why a request is refused; `http/responses` maps each to a status. */
export type RefusalKind =
  | 'malformed'
  | 'unauthorized'
  | 'passphrase'
  | 'incomplete'
  | 'forbidden'
  | 'not_found'
  | 'answered'
  | 'closed'
  | 'too_large'
  | 'invalid'
  | 'reused'
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
  /** What the key of an incomplete link, if it is words, is stretched with. */
  readonly keySalt?: string | undefined;
  /** Which requires the passphrase; a push by default. */
  readonly what?: 'push' | 'request' | undefined;
  /** What is wrong on the machine, for the log alone. */
  readonly cause?: unknown;
}

/** A refused request, with a message for its sender. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly kind: RefusalKind;
  readonly fields: Readonly<Record<string, string[]>>;
  readonly retryAfter: number | undefined;
  readonly triesLeft: number | undefined;
  readonly keySalt: string | undefined;
  readonly what: 'push' | 'request';

  constructor(kind: RefusalKind, message: string, details: RefusalDetails = {}) {
    super(message, { cause: details.cause });
    this.kind = kind;
    this.fields = details.fields ?? {};
    this.retryAfter = details.retryAfter;
    this.triesLeft = details.triesLeft;
    this.keySalt = details.keySalt;
    this.what = details.what ?? 'push';
  }
}

/** Whether an error is for the log: a refusal is, if something on the machine is its cause. */
export function isFailure(error: unknown): boolean {
  return !(error instanceof Refusal) || error.cause !== undefined;
}

export function notFound(): Refusal {
  return new Refusal('not_found', 'not-found');
}

/** The request may succeed a few seconds later. */
export function busy(message: string): Refusal {
  return new Refusal('busy', message, { retryAfter: 5 });
}

/** Another instance key is in use than this service has: it was changed while the service ran. */
export function keyChanged(): Refusal {
  return busy('The instance key was changed. Try again later.');
}

export function away(cause?: unknown): Refusal {
  const message = 'The database is unavailable. Try again later.';
  return new Refusal('away', message, { retryAfter: 5, cause });
}

export function full(): Refusal {
  return new Refusal('full', 'The instance is short of space. Try again later.', {
    retryAfter: 60,
  });
}

/** The client has disconnected; nobody reads this. */
export function abandoned(): Refusal {
  return new Refusal('abandoned', 'The client disconnected.');
}

export function invalid(fields: Record<string, string[]>): Refusal {
  return new Refusal('invalid', 'invalid', { fields });
}
