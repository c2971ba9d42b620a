import { onTestFinished } from 'vitest';
import type { App } from '../../src/server/http/env';
import { connectionLimitOf } from '../../src/server/http/hardening/connections';
import type { Timeouts } from '../../src/server/http/hardening/timeouts';
import { createSockets, type Sockets } from '../../src/server/http/sockets';
import { type Service, type ServiceIo, startService } from '../../src/server/service';
import { checkSettings, type ServiceSettings } from '../../src/server/service-settings';
import { defaults, type TestService } from '../helpers/service';

const MIB = 1024 * 1024;

interface Options {
  /** Those under test: all others are generous. */
  readonly timeouts?: Partial<Timeouts>;
  readonly app?: App;
  readonly connections?: ReturnType<typeof connectionLimitOf>;
  readonly ownHost?: string;
}

export interface OnSockets extends Sockets {
  readonly port: number;
}

/** Has a service answer on a port of loopback until the test is over. */
export async function onSockets(
  { service, clock }: Pick<TestService, 'service' | 'clock'>,
  { timeouts, app = service.app, connections = connectionLimitOf(checkSettings(defaults)), ownHost }: Options = {},
): Promise<OnSockets> {
  const sockets = createSockets(app, [{ host: '127.0.0.1', port: 0 }], {
    tls: undefined,
    log: service.log,
    now: clock.now,
    timeouts: {
      head: 60_000,
      idle: 60_000,
      body: 60_000,
      read: { bytes: MIB, milliseconds: 60_000 },
      rest: MIB,
      ...timeouts,
    },
    connections,
    ownHost,
    grace: 1000,
  });
  onTestFinished(() => sockets.stop());
  const [place] = await sockets.listen();
  return { ...sockets, port: Number(new URL(place?.url ?? '').port) };
}

export interface Started extends Service {
  readonly port: number;
  readonly lines: string[];
  readonly warnings: string[];
}

/** Starts a service as `pwpush serve` does, in memory or in the folder `data`, until the test is over. */
export async function started(
  settings: Partial<ServiceSettings> = {},
  io: Partial<ServiceIo> = {},
  timeouts?: Partial<Timeouts>,
): Promise<Started> {
  const lines: string[] = [];
  const warnings: string[] = [];
  const service = await startService(
    { ...defaults, ephemeral: settings.data === undefined, ...settings },
    {
      log: (line) => void lines.push(line),
      warn: (line) => void warnings.push(line),
      now: () => new Date(),
      version: '0.1.0',
      ...io,
    },
    timeouts,
  );
  onTestFinished(() => service.close());
  return { ...service, port: Number(new URL(service.localUrl).port), lines, warnings };
}
