/** Why the service cannot run, for its operator: a port in use, a folder without write permission, a wrong key. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  /** How to fix it, without a final period. */
  readonly hint: string | undefined;
  /** Whether the input is invalid, rather than something on the machine. */
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

/** The error code of the system (`EADDRINUSE`, `EACCES` …), or ''. */
export function systemCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
