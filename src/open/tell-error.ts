import { type ErrorFormat, reportError } from '../cli/report-error';
import type { Context } from '../platform/context';

/** Prints an error on stderr. If that fails, a link in it is saved to a rescue file. Never throws. */
export function tellError(context: Context, error: unknown, format: ErrorFormat): Promise<void> {
  return reportError(context, error, format, saveLink);
}

async function saveLink(context: Context, link: string): Promise<void> {
  const { rescueResult } = await import('./print-or-rescue');
  const problem = 'cannot write to standard error';
  await rescueResult(context, { bytes: `${link}\n`, what: 'link', problem });
}
