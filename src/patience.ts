import type { Output } from './context';

/** How long a write may still take once the run is interrupted, in milliseconds. */
const PATIENCE = 100;

/**
 * Settles as `work` does. Once `signal` has aborted, before or meanwhile, `work` gets a moment and is then
 * left behind: rejects with the code `interrupted`.
 */
export async function patiently<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let hurry = () => {};
  const stopped = new Promise<never>((_, reject) => {
    hurry = () => {
      timer = setTimeout(() => reject(heldUp()), PATIENCE);
    };
  });
  if (signal.aborted) hurry();
  else signal.addEventListener('abort', hurry, { once: true });
  try {
    return await Promise.race([work(), stopped]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', hurry);
  }
}

/** What held up a write after the signal. */
const stuck = new WeakSet<Output>();

/**
 * Writes, patiently. What has held up one write of an interrupted run is not waited for again, so that many results
 * still get to where the next of them goes.
 */
export async function writePatiently(
  output: Output,
  data: string | Uint8Array,
  signal: AbortSignal,
): Promise<void> {
  if (stuck.has(output)) throw heldUp();
  try {
    await patiently(() => output.write(data), signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'interrupted') stuck.add(output);
    throw error;
  }
}

function heldUp(): Error {
  return Object.assign(new Error('held up'), { code: 'interrupted' });
}
