import type { ServiceModule } from '../platform/load-service';
import type { Invocation } from './terminal/output';

type ServiceIo = Parameters<ServiceModule['startService']>[1];

/** The process, as the service sees it. */
export function serviceIo({ context, say }: Invocation, log: ServiceIo['log']): ServiceIo {
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
