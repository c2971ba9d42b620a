import { CliError } from '../../errors';

/** The option that names the service's folder, on every word of `serve`. */
export const DATA = [
  '--data <folder>',
  "where the database lives; the platform's data folder",
] as const;

/** What an operator gave wrongly is bad usage; the rest is a failure. */
export function serviceFailure(
  error: Error & { hint?: string | undefined; input?: boolean },
): CliError {
  const code = error.input ? 'usage' : 'failed';
  return new CliError(code, error.message, { hint: error.hint, cause: error });
}
