import type { Scope } from '../contract/api';
import { size } from '../contract/byte-size';

/** Why the service cannot run, for its operator: a port in use, a folder without write permission, a wrong key. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  /** How to fix it, without a final period. */
  readonly hint: string | undefined;
  readonly command: string | undefined;
  /** `usage` if the input is invalid, rather than something on the machine. */
  readonly code: 'failed' | 'usage' | 'not_found';

  constructor(
    message: string,
    details: Partial<Pick<ServiceError, 'hint' | 'command' | 'cause' | 'code'>> = {},
  ) {
    super(message, { cause: details.cause });
    this.hint = details.hint;
    this.command = details.command;
    this.code = details.code ?? 'failed';
  }
}

export function invalidInput(message: string, hint?: string): ServiceError {
  return new ServiceError(message, { hint, code: 'usage' });
}

/** Returns the error of a command that needs exclusive access to the data. */
export function inUse(): ServiceError {
  const hint = 'stop all services that use it, and start them again afterwards';
  return invalidInput('the data is in use by a running service or another program', hint);
}

/** The error code of the system (`EADDRINUSE`, `EACCES` …), or ''. */
export function systemCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** Reasons to refuse an HTTP request, with their HTTP status. */
export const refusalStatuses = {
  malformed: 400,
  unauthorized: 401,
  passphrase: 401,
  incomplete: 403,
  forbidden: 403,
  not_found: 404,
  answered: 409,
  closed: 410,
  identity: 412,
  too_large: 413,
  unsupported: 415,
  invalid: 422,
  reused: 422,
  too_many: 429,
  // The client has gone, so this status, which nginx invented, appears only in the log.
  abandoned: 499,
  busy: 503,
  rekeyed: 503,
  away: 503,
  full: 507,
} as const;

export type RefusalKind = keyof typeof refusalStatuses;

interface RefusalDetails {
  /** Messages about invalid values, by the name of the field. */
  readonly fields?: Readonly<Record<string, string[]>>;
  /** Seconds until the client may try again. */
  readonly retryAfter?: number;
  /** Passphrase attempts left before the client has to wait. */
  readonly triesLeft?: number;
  /** The salt of the key that is missing in the link, if the key consists of words. */
  readonly keySalt?: string | undefined;
  /** The address at which the link opens, if its key was proved for another address of this service. */
  readonly opensAt?: string | undefined;
  /** The scope of the token, if that is why the request is refused. */
  readonly scope?: Scope | undefined;
  /** What requires the passphrase; `push` by default. */
  readonly what?: 'push' | 'request' | undefined;
  /** An error of the database, for the log alone. */
  readonly cause?: unknown;
}

export class ServiceRefusal extends Error {
  override readonly name = 'ServiceRefusal';

  constructor(
    readonly kind: RefusalKind,
    message: string,
    readonly details: RefusalDetails = {},
  ) {
    super(message, { cause: details.cause });
  }
}

export function notFound(): ServiceRefusal {
  return new ServiceRefusal('not_found', 'not-found');
}

/** Returns undefined for a refusal, or for one of that kind. @throws any other error */
export const unlessRefused = (kind?: ServiceRefusal['kind']) => (error: unknown) => {
  if (!(error instanceof ServiceRefusal) || (kind && error.kind !== kind)) throw error;
  return undefined;
};

export function malformed(message: string): ServiceRefusal {
  return new ServiceRefusal('malformed', message);
}

export function tooLarge(limit: number, what = 'The body is'): ServiceRefusal {
  return new ServiceRefusal('too_large', `${what} larger than ${size(limit)}.`);
}

/**
 * Refuses a request that may succeed a few seconds later.
 * @param cause undefined if the request is refused before anything of it was done
 */
export function busy(message: string, cause?: unknown): ServiceRefusal {
  return new ServiceRefusal('busy', message, { retryAfter: 5, cause });
}

/** Refuses a request because the instance key was changed while this service ran with the old one. */
export function keyChanged(): ServiceRefusal {
  const message = 'The instance key was changed. Try again later.';
  const cause = new ServiceError(
    'the instance key was changed: restart this service with the new one',
  );
  return new ServiceRefusal('rekeyed', message, { retryAfter: 5, cause });
}

export function away(cause: unknown): ServiceRefusal {
  const message = 'The database is unavailable. Try again later.';
  return new ServiceRefusal('away', message, { retryAfter: 5, cause });
}

/** Refuses a request for which there is no space; a transaction that found none was rolled back. */
export function full(cause?: unknown): ServiceRefusal {
  const message = 'The instance is short of space. Try again later.';
  return new ServiceRefusal('full', message, { retryAfter: 60, cause });
}

/** Whether nothing of the refused request was done, and the same request may succeed later. */
export function isUndone({ kind, cause }: ServiceRefusal): boolean {
  return kind === 'full' || (kind === 'busy' && cause === undefined);
}

export function abandoned(): ServiceRefusal {
  return new ServiceRefusal('abandoned', 'The client disconnected.');
}

export function invalid(fields: Record<string, string[]>): ServiceRefusal {
  return new ServiceRefusal('invalid', 'invalid', { fields });
}
