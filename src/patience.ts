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
    const late = () => reject(Object.assign(new Error('held up'), { code: 'interrupted' }));
    hurry = () => {
      timer = setTimeout(late, PATIENCE);
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
