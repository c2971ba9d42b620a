/** A machine-readable name for why a run failed; printed as `error.code` with `--json`. */
export type ErrorCode = keyof typeof exitStatus;

/** The one table of failures: code → exit status. `cli.md` promises both to scripts. */
export const exitStatus = {
  failed: 1,
  usage: 2,
  unauthorized: 3,
  forbidden: 4,
  not_found: 5,
  expired: 6,
  passphrase: 7,
  rejected: 8,
  unreachable: 9,
  rate_limited: 10,
  unknown: 11,
  timeout: 12,
  hung_up: 129,
  interrupted: 130,
  terminated: 143,
} as const;

/** HTTP status → code, where a status alone decides; `api/failure.ts` refines it by call and body. */
const codeByHttpStatus: Readonly<Record<number, ErrorCode>> = {
  400: 'rejected',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  413: 'rejected',
  422: 'rejected',
  429: 'rate_limited',
};

/** The code an HTTP status stands for; every status without a meaning of its own is `failed`. */
export function codeOfHttpStatus(status: number): ErrorCode {
  return codeByHttpStatus[status] ?? 'failed';
}

/** What a failed run leaves in the world; fields of the JSON error (pwpush(1), "Output"). */
export interface Remains {
  /** Of a push that was created. It is saved where it cannot be told, unless the push is expired again. */
  readonly link?: string;
  /** Whether that push is expired again. */
  readonly expired?: boolean;
  /** The file a result was saved to; where there are several, all. */
  readonly saved_to?: string | readonly string[];
  /** Pushes of which one may be that whose creation was not answered. */
  readonly found?: readonly object[];
}

export interface ErrorDetails {
  /** What the person can do about it, as a sentence fragment without a final period. */
  readonly hint?: string | undefined;
  /** The HTTP status that led here, when an answer did. */
  readonly status?: number | undefined;
  readonly cause?: unknown;
  /** The body of a retrieval's answer that made no sense; it may hold the secret and is rescued, never shown. */
  readonly unread?: Uint8Array | undefined;
  /** A push exists or a view is gone, and this says so: told even when the run was interrupted. */
  readonly remains?: Remains | undefined;
  /** The line of the input it is about, from 1. */
  readonly line?: number | undefined;
}

/** The one error that reaches a user: a code from the table, a message, and what to do about it. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly status: number | undefined;
  readonly unread: Uint8Array | undefined;
  readonly remains: Remains | undefined;
  readonly line: number | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.code = code;
    this.hint = details.hint;
    this.status = details.status;
    this.unread = details.unread;
    this.remains = details.remains;
    this.line = details.line;
  }

  get exitStatus(): number {
    return exitStatus[this.code];
  }
}

/** Bad options or input; thrown before anything is sent. */
export function usageError(message: string, hint?: string): CliError {
  return new CliError('usage', message, { hint });
}

/** Ends the run with a status when everything there is to say has been said. */
export class ExitWith extends Error {
  override readonly name = 'ExitWith';
  readonly status: number;

  constructor(status: number) {
    super('exit');
    this.status = status;
  }
}

const endings = {
  SIGINT: { code: 'interrupted', word: 'interrupted' },
  SIGTERM: { code: 'terminated', word: 'terminated' },
  SIGHUP: { code: 'hung_up', word: 'hung up' },
} as const;

/** The error of a run that a signal ended. */
export function endedBy({ reason }: AbortSignal): CliError {
  const { code, word } = endings[reason as keyof typeof endings] ?? endings.SIGINT;
  return new CliError(code, word);
}
