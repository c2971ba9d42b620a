import { words } from '../cli/in-words';
import type { ErrorFormat } from '../cli/report-error';
import type { Context } from '../platform/context';

/** If an error cannot be printed, a link in it is saved to a rescue file. Never throws. */
export async function printError(
  context: Context,
  error: unknown,
  format: ErrorFormat,
): Promise<void> {
  // Loaded on demand, as a run without an error saves the 3 ms of all words.
  const { reportError } = await words();
  await reportError(context, error, format, async (context, link) => {
    const { RescueStore } = await import('./rescue-store');
    await new RescueStore(context).keep({ part: 'link', bytes: `${link}\n` });
  });
}
