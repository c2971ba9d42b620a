import type { Context } from './context';
import { asCliError, CliError, ExitWith } from './errors';
import { boundedWrite } from './terminal/bounded-write';
import { forLog, safe, safeJson } from './terminal/safe';

/** How an error is printed: one line of JSON, or `pwpush: message` and a hint. */
export interface ErrorFormat {
  readonly json: boolean;
  readonly debug: boolean;
  /** The hint that was printed last, which is not repeated. */
  readonly hinted?: string | undefined;
}

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
  const problem = 'cannot write to standard error';
  await rescueResult(context, { bytes: `${link}\n`, what: 'link', problem });
}

/** An error as text for stderr, with a final newline; stack frames only with `debug`. */
export function failureText(error: unknown, format: ErrorFormat): string {
  if (error instanceof ExitWith || isClosedPipe(error)) return '';
  const failure = asCliError(error);
  const text = format.json ? jsonLine(failure) : plainLines(failure, format);
  return format.debug ? text + frames(error) : text;
}

/** The reader of our pipe is gone (`pwpush list | head`), which is no error. */
function isClosedPipe(error: unknown): boolean {
  const { code, syscall } = (error ?? {}) as NodeJS.ErrnoException;
  return code === 'EPIPE' && syscall === 'write';
}

function jsonLine(error: CliError): string {
  return `${safeJson(JSON.stringify({ error: failureFields(error) }))}\n`;
}

/** An error as the fields of its JSON. */
export function failureFields({ code, message, hint, status, line, remains }: CliError) {
  return { code, message, hint, status, line, ...remains };
}

function plainLines({ message, hint }: CliError, { hinted }: ErrorFormat): string {
  const first = `pwpush: ${safe(message)}\n`;
  return hint === undefined || hint === hinted ? first : `${first}hint: ${safe(hint)}\n`;
}

/** Names and stack frames, innermost cause last; no messages, since they can quote secrets. */
function frames(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const lines = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  const { code } = error as NodeJS.ErrnoException;
  const name = code === undefined ? error.name : `${error.name} ${code}`;
  return `${[`debug: ${name}`, ...lines].map(safe).join('\n')}\n${frames(error.cause)}`;
}

/** The exit status of an error. */
export function statusOf(error: unknown): number {
  return error instanceof ExitWith ? error.status : asCliError(error).exitStatus;
}
