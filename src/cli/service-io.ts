import { type ServiceModule, withService } from '../platform/load-service';
import type { Invocation } from './terminal/output';

type ServiceIo = Parameters<ServiceModule['startService']>[1];

type Run = Pick<Invocation, 'context' | 'say'>;

/** The process, as the service sees it. */
export function serviceIo({ context, say }: Run, log: ServiceIo['log']): ServiceIo {
  return {
    log,
    warn: (line) => void say.warn(line),
    now: context.now,
    env: context.env,
    version: context.version,
    quietly: context.quietly,
    usage: context.usage,
  };
}

/**
 * Starts a service in the memory of this process. Of its log only errors are shown: what visitors do is said by `start`.
 * @throws CliError: usage for an invalid push or request, failed when it cannot start
 */
export function fromHere<T>(
  run: Run,
  start: (service: ServiceModule, io: ServiceIo) => Promise<T>,
): Promise<T> {
  const io = serviceIo(run, (line, level) => void (level === 'error' && run.say.warn(line)));
  return withService((service) => start(service, io));
}
