/** Why the service cannot run, in words for whoever runs it: a port in use, a folder it may not write, a wrong key. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  /** What the operator can do about it, without a final period. */
  readonly hint: string | undefined;
  /** Whether what was asked for is wrong, rather than the machine. */
  readonly input: boolean;

  constructor(
    message: string,
    details: { hint?: string | undefined; cause?: unknown; input?: boolean } = {},
  ) {
    super(message, { cause: details.cause });
    this.hint = details.hint;
    this.input = details.input ?? false;
  }
}

/** The system's name for what went wrong (`EADDRINUSE`, `EACCES` …), or ''. */
export function systemCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
