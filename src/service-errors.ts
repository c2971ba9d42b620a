import type { Context } from './context';
import { CliError } from './errors';

/** What an operator gave wrongly is bad usage; the rest is a failure. */
export function serviceFailure(
  error: Error & { hint?: string | undefined; input?: boolean },
): CliError {
  const code = error.input ? 'usage' : 'failed';
  return new CliError(code, error.message, { hint: error.hint, cause: error });
}

type Service = Awaited<ReturnType<Context['service']>>;

/** Does `work` with the service's code, and says its errors as ours. */
export async function withService<T>(
  context: Context,
  work: (service: Service) => Promise<T>,
): Promise<T> {
  const service = await context.service();
  try {
    return await work(service);
  } catch (error) {
    throw error instanceof service.ServiceError ? serviceFailure(error) : error;
  }
}
