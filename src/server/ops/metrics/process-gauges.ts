import { performance } from 'node:perf_hooks';
import type { Usage } from '../../service-settings';
import { type Family, type Histogram, histogram, reading } from './exposition';

/** Metrics of the process, under the names that Prometheus gives them everywhere. */
export function processFamilies(usage: () => Usage): Family[] {
  return [
    reading(
      'counter',
      'process_cpu_user_seconds_total',
      'User CPU time spent in seconds.',
      () => usage().userCpu,
    ),
    reading(
      'counter',
      'process_cpu_system_seconds_total',
      'System CPU time spent in seconds.',
      () => usage().systemCpu,
    ),
    reading('counter', 'process_cpu_seconds_total', 'CPU time spent in seconds.', () => {
      const { userCpu, systemCpu } = usage();
      return userCpu + systemCpu;
    }),
    reading(
      'gauge',
      'process_resident_memory_bytes',
      'Resident memory size in bytes.',
      () => usage().resident,
    ),
    reading(
      'gauge',
      'nodejs_heap_size_used_bytes',
      'Size of the used part of the heap in bytes.',
      () => usage().heap,
    ),
    reading(
      'gauge',
      'process_start_time_seconds',
      'Start time of the process since unix epoch in seconds.',
      () => Math.round(performance.timeOrigin) / 1000,
    ),
  ];
}

const EVERY = 100;

/** How much later than asked for a timer fires, ten times a second until it is stopped. */
export function eventLoopLag(): { readonly family: Histogram; stop(): void } {
  const family = histogram(
    'nodejs_eventloop_lag_seconds',
    'How much later than asked for timers fire, sampled every 100 ms.',
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1],
  );
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    family.observe(Math.max(0, now - last - EVERY) / 1000);
    last = now;
  }, EVERY);
  timer.unref();
  return { family, stop: () => clearInterval(timer) };
}
