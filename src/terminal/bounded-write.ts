import type { Output } from '../context';

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

/** Outputs whose next text begins with a line end. */
const inLine = new WeakSet<Output>();

/**
 * Has the next text on `output` begin on a line of its own: something without a final line end went to another stream,
 * which may lead to the same place (`2>&1`).
 */
export function breakLine(output: Output): void {
  inLine.add(output);
}

/** What the next text on `output` begins with: a line end after `breakLine`, once, or nothing. */
export function lineStart(output: Output): string {
  return inLine.delete(output) ? '\n' : '';
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
    const start = lineStart(output);
    if (start !== '') await patiently(() => output.write(start), signal);
    await patiently(() => output.write(data), signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'interrupted') stuck.add(output);
    throw error;
  }
}

function heldUp(): Error {
  return Object.assign(new Error('held up'), { code: 'interrupted' });
}
