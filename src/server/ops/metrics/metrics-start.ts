import type { Server } from 'node:http';
import type { OpenService } from '../../compose';
import type { ServiceIo, ServiceSettings } from '../../service-settings';
import { gauged } from './gauges';
import { serveMetrics } from './listener';
import { eventLoopLag, processFamilies } from './process-gauges';
import { trafficOf } from './traffic';

/** Serves the metrics of a service and its servers where the settings name a port for them. */
export async function startMetrics(
  { metrics, gauges }: Pick<OpenService, 'metrics' | 'gauges'>,
  servers: readonly Server[],
  { metricsHost = '127.0.0.1', metricsPort }: ServiceSettings,
  { usage }: ServiceIo,
): Promise<{ readonly url: string; close(): void } | undefined> {
  if (metricsPort === undefined) return undefined;
  const traffic = trafficOf(servers);
  const ofProcess = usage ? processFamilies(usage) : [];
  const lag = eventLoopLag();
  const current = gauged(gauges);
  try {
    const scrapes = await serveMetrics(metricsHost, metricsPort, async () =>
      metrics.render([...(await current()), ...traffic, ...ofProcess, lag.family]),
    );
    return {
      url: scrapes.url,
      close: () => {
        scrapes.close();
        lag.stop();
      },
    };
  } catch (error) {
    lag.stop();
    throw error;
  }
}
