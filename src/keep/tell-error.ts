import type { ErrorFormat } from '../cli/report-error';
import type { Context } from '../platform/context';

/** Prints an error on stderr. If that fails, a link in it is saved to a rescue file. Never throws. */
export async function tellError(
  context: Context,
  error: unknown,
  format: ErrorFormat,
): Promise<void> {
  // With all its words 3 ms, which a run without an error does without.
  const { reportError } = await import('../cli/report-error');
  await reportError(context, error, format, async (context, link) => {
    const { newSafe } = await import('./safekeeping');
    await newSafe(context).keep({ what: 'link', bytes: `${link}\n` });
  });
}
