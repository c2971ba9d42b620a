import { CliError, ExitWith } from '../errors';
import { safe, safeJson } from './safe';

/** How an error is told: one line of JSON, or `pwpush: message` and a hint. */
export interface Telling {
  readonly json: boolean;
  readonly debug: boolean;
  /** The hint that was told last, which is not told again right away. */
  readonly hinted?: string | undefined;
}

/** An error as the text for stderr, with its line end; never a stack trace unless `debug`. */
export function failureText(error: unknown, telling: Telling): string {
  if (error instanceof ExitWith || isClosedPipe(error)) return '';
  const told = asCliError(error);
  const text = telling.json ? jsonLine(told) : plainLines(told, telling);
  return telling.debug ? text + frames(error) : text;
}

/** The reader of our pipe has gone (`pwpush list | head`): nobody wants to hear of it. */
function isClosedPipe(error: unknown): boolean {
  const { code, syscall } = (error ?? {}) as NodeJS.ErrnoException;
  return code === 'EPIPE' && syscall === 'write';
}

/** Any error as one of the table: what is not ours becomes `failed`, without its own words. */
export function asCliError(error: unknown): CliError {
  if (error instanceof CliError) return error;
  const { code, syscall, path } = (error ?? {}) as NodeJS.ErrnoException;
  if (typeof code === 'string' && typeof syscall === 'string') {
    const where = typeof path === 'string' ? ` ${path}` : '';
    return new CliError('failed', `${syscall}${where}: ${code}`, { cause: error });
  }
  // A message of the engine can quote what was being read ("hunter2" is not valid JSON): only its name is told.
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

function plainLines({ message, hint }: CliError, { hinted }: Telling): string {
  const first = `pwpush: ${safe(message)}\n`;
  return hint === undefined || hint === hinted ? first : `${first}hint: ${safe(hint)}\n`;
}

/** Where it came from, innermost cause last: names and frames only, since messages can quote secrets. */
function frames(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const lines = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  const { code } = error as NodeJS.ErrnoException;
  const name = code === undefined ? error.name : `${error.name} ${code}`;
  return `${[`debug: ${name}`, ...lines].map(safe).join('\n')}\n${frames(error.cause)}`;
}

/** The exit status an error stands for. */
export function statusOf(error: unknown): number {
  return error instanceof ExitWith ? error.status : asCliError(error).exitStatus;
}
