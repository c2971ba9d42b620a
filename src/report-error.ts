import type { Context } from './context';
import { CliError } from './errors';
import { boundedWrite } from './terminal/bounded-write';
import { type ErrorFormat, failureText } from './terminal/error-message';
import { forLog } from './terminal/safe';

/** Prints an error on stderr. If that fails, a link in it is saved to a rescue file. Never throws. */
export async function reportError(
  context: Context,
  error: unknown,
  format: ErrorFormat,
): Promise<void> {
  const { stderr, env, signal } = context;
  const text = forLog(failureText(error, format), env);
  if (text !== '') await boundedWrite(stderr, text, signal).catch(() => saveLink(error, context));
  // Writes to a stream that was closed before we started vanish without an error.
  if (stderr.closed) await saveLink(error, context);
}

async function saveLink(error: unknown, context: Context): Promise<void> {
  const { link, expired } = (error instanceof CliError && error.remains) || {};
  if (link === undefined || expired) return;
  const { rescueResult } = await import('./delivery/print-or-rescue');
  await rescueResult(context, `${link}\n`, 'link', 'standard error cannot be written');
}
