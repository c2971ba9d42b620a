import type { Context } from '../platform/context';
import { CliError } from '../platform/errors';

const loadService = () => import('../server/service');

export type ServiceModule = Awaited<ReturnType<typeof loadService>>;

type ServiceIo = Parameters<ServiceModule['startService']>[1];

export function serviceIo(
  context: Context,
  log: ServiceIo['log'],
  warn: ServiceIo['warn'],
): ServiceIo {
  const { now, env, version, quietly, usage } = context;
  // Without a listener, the first connection would tune V8 for a short run.
  const transport: ServiceIo['transport'] = (settings) =>
    context.transport({ ...settings, connected: () => {} });
  return { log, warn, now, env, version, quietly, usage, transport };
}

/** @throws CliError in place of an error of the service */
export async function withService<T>(work: (service: ServiceModule) => Promise<T>): Promise<T> {
  const service = await loadService();
  try {
    return await work(service);
  } catch (error) {
    throw serviceFailure(error, service);
  }
}

function serviceFailure(thrown: unknown, { asServiceError, ServiceError }: ServiceModule): unknown {
  const error = asServiceError(thrown);
  if (!(error instanceof ServiceError)) return error;
  const { message, hint, command, code } = error;
  return new CliError(code, message, {
    hints: hint === undefined ? [] : { text: hint, command },
    cause: error,
  });
}
