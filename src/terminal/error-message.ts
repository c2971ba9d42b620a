import { CliError, ExitWith } from '../errors';
import { safe, safeJson } from './safe';

/** How an error is printed: one line of JSON, or `pwpush: message` and a hint. */
export interface ErrorFormat {
  readonly json: boolean;
  readonly debug: boolean;
  /** The hint that was printed last, which is not repeated. */
  readonly hinted?: string | undefined;
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

/** Any error as a CliError: one that is not ours becomes `failed`, without its message. */
export function asCliError(error: unknown): CliError {
  if (error instanceof CliError) return error;
  const { code, syscall, path } = (error ?? {}) as NodeJS.ErrnoException;
  if (typeof code === 'string' && typeof syscall === 'string') {
    const where = typeof path === 'string' ? ` ${path}` : '';
    return new CliError('failed', `${syscall}${where}: ${code}`, { cause: error });
  }
  // A message of the engine can quote what was being read ("hunter2" is not valid JSON).
  const name = error instanceof Error ? error.name : typeof error;
  return new CliError('failed', `internal error (${name}); this is a bug of pwpush`, {
    hint: 'run it again with --debug and report what it says',
    cause: error,
  });
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
