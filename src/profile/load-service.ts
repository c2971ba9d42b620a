import type { Context } from '../platform/context';
import { CliError } from '../platform/errors';

/** The one import of the server on the client's side. */
const loadService = () => import('../server/service');

export type ServiceModule = Awaited<ReturnType<typeof loadService>>;

type ServiceIo = Parameters<ServiceModule['startService']>[1];

/** The process, as the service sees it. */
export function serviceIo(
  { now, env, version, quietly, usage }: Context,
  log: ServiceIo['log'],
  warn: ServiceIo['warn'],
): ServiceIo {
  return { log, warn, now, env, version, quietly, usage };
}

/**
 * Loads the service and runs `work` with it.
 * @throws CliError: usage for what the operator gave wrongly, failed for the rest
 */
export async function withService<T>(work: (service: ServiceModule) => Promise<T>): Promise<T> {
  const service = await loadService();
  try {
    return await work(service);
  } catch (error) {
    if (!(error instanceof service.ServiceError)) throw error;
    const { message, hint, command, input } = error;
    throw new CliError(input ? 'usage' : 'failed', message, {
      steps: hint === undefined ? [] : { text: hint, command },
      cause: error,
    });
  }
}
