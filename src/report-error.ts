import type { Context } from './context';
import type { CliError } from './errors';
import { writePatiently } from './terminal/bounded-write';
import { type ErrorFormat, failureText } from './terminal/error-message';
import { forLog } from './terminal/safe';

/** Tells a failure on stderr. Where nobody can be told, a link that stands in it is saved. Never throws. */
export async function tellFailure(
  context: Context,
  error: unknown,
  format: ErrorFormat,
): Promise<void> {
  const { stderr, env, signal } = context;
  const text = forLog(failureText(error, format), env);
  if (text !== '') await writePatiently(stderr, text, signal).catch(() => keep(error, context));
  // What is written to a stream that was closed before we started goes nowhere, without an error.
  if (stderr.closed) await keep(error, context);
}

async function keep(error: unknown, context: Context): Promise<void> {
  const { remains } = (error ?? {}) as Partial<CliError>;
  if (remains?.link === undefined || remains.expired) return;
  const { rescued } = await import('./delivery/rescued');
  await rescued(context, `${remains.link}\n`, 'link', 'standard error cannot be written');
}
