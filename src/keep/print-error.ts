import { words } from '../cli/in-words';
import type { ErrorFormat } from '../cli/report-error';
import type { Context } from '../platform/context';

/** If an error cannot be printed, a link in it is saved to a rescue file. Never throws. */
export async function printError(
  context: Context,
  error: unknown,
  format: ErrorFormat,
): Promise<void> {
  // A run without an error saves the 3 ms in which the words load.
  const { reportError } = await words();
  await reportError(context, error, format, async (context, link) => {
    const { RescueStore } = await import('./rescue-store');
    await new RescueStore(context).keep({ part: 'link', bytes: `${link}\n` });
  });
}
