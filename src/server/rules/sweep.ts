import type { Log } from '../ops/log';
import type { Pushes } from './pushes';

const SWEEP_EVERY = 60_000;

/** Sweeps now and every minute. The function returned stops that, and waits for the current sweep. */
export function sweepRegularly(
  pushes: Pick<Pushes, 'sweep' | 'halt'>,
  log: Log,
): () => Promise<void> {
  const sweep = async () => {
    try {
      const expired = await pushes.sweep();
      if (expired > 0) log.event('sweep', { expired });
    } catch (error) {
      log.warning(`expired pushes could not be swept: ${(error as Error).name}`);
    }
  };
  let last = sweep();
  const timer = setInterval(() => {
    last = sweep();
  }, SWEEP_EVERY);
  timer.unref();
  return async () => {
    clearInterval(timer);
    pushes.halt();
    await last;
  };
}
