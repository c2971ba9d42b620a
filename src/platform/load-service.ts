import { CliError } from './errors';

/** The one import of the server on the client's side. */
const loadService = () => import('../server/service');

export type ServiceModule = Awaited<ReturnType<typeof loadService>>;

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
    throw new CliError(input ? 'usage' : 'failed', message, { hint, command, cause: error });
  }
}
