/** Why the service cannot run, in words for whoever runs it: a port in use, a folder it may not write, a wrong key. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  /** What the operator can do about it, without a final period. */
  readonly hint: string | undefined;

  constructor(message: string, details: { hint?: string | undefined; cause?: unknown } = {}) {
    super(message, { cause: details.cause });
    this.hint = details.hint;
  }
}

/** The system's name for what went wrong (`EADDRINUSE`, `EACCES` …), or ''. */
export function systemCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
