import { LINK_KEY } from '../age/link-key';
import { wordList } from '../age/words';
import type { Context } from '../platform/context';
import { asCliError, CliError, ExitWith, type Fact } from '../platform/errors';
import { adviceFor, clause } from '../words/phrase';
import { boundedWrite, folded } from './terminal/bounded-write';
import { forLog, safe, safeJson } from './terminal/safe';

export { adviceFor };

export interface ErrorFormat {
  readonly json: boolean;
  readonly debug: boolean;
  /** The hint that was printed last, which is not repeated. */
  readonly hinted?: string | undefined;
}

/**
 * Prints an error on stderr. Never throws.
 * @param save saves the link of a push that exists to a rescue file, if it cannot be printed
 */
export async function reportError(
  context: Context,
  error: unknown,
  format: ErrorFormat,
  save: (context: Context, link: string) => Promise<void>,
): Promise<void> {
  const { stderr, env, signal } = context;
  const { link, expired } = (error instanceof CliError && error.remains) || {};
  const saved = async () => {
    if (link !== undefined && !expired) await save(context, link);
  };
  const whole = await withoutWords(failureText(error, format), error);
  const text = forLog(format.json ? whole : folded(whole, stderr), env);
  if (text !== '') await boundedWrite(stderr, text, signal).catch(saved);
  // Writes to a stream that was closed before the start vanish without an error.
  if (stderr.closed) await saved();
}

/** Returns a text that ends with a newline, with stack frames only if `debug`. */
export function failureText(error: unknown, format: ErrorFormat): string {
  if (error instanceof ExitWith || isClosedPipe(error)) return '';
  const failure = asCliError(error);
  const json = () => `${safeJson(JSON.stringify({ error: failureFields(failure) }))}\n`;
  const text = format.json ? json() : plainLines(failure, format);
  return format.debug ? text + frames(error) : text;
}

/** Whether the reader of our pipe has left (`pwpush list | head`), which is no error. */
function isClosedPipe(error: unknown): boolean {
  const { code, syscall } = (error ?? {}) as NodeJS.ErrnoException;
  return code === 'EPIPE' && syscall === 'write';
}

export function failureFields(error: CliError) {
  const { code, status, line, remains } = error;
  const { message, hint, command } = worded(error);
  const whole = command === undefined ? hint : `${hint}: ${command}`;
  return { code, message, hint: whole, status, line, ...remains };
}

function plainLines(error: CliError, { hinted }: ErrorFormat): string {
  const { message, hint, command } = worded(error);
  const first = `pwpush: ${safe(message)}\n`;
  if (hint === undefined || hint === hinted) return first;
  const rest = command === undefined ? '' : `:\n  ${safe(command)}`;
  return `${first}hint: ${safe(hint)}${rest}\n`;
}

/** Returns the text of an error without its hints. */
export function wordsOf(what: CliError | Fact): string {
  return what instanceof CliError ? worded(what).message : clause(what);
}

/**
 * Makes sentences of an error; `command` does what the last hint says. Keys are removed: a link in the wrong place of a
 * command line would bring its key into a log.
 */
export function worded(error: CliError) {
  const { subject, facts, hints } = error;
  const about = subject === undefined ? '' : `${subject}: `;
  const message = about + facts.map(clause).join('; ');
  const all = hints.map(adviceFor);
  const last = all.find((advice) => advice.command !== undefined);
  const hint = [...all.filter((advice) => advice !== last), ...(last ? [last] : [])]
    .map(({ text }, index) => (index === 0 ? text : text.charAt(0).toUpperCase() + text.slice(1)))
    .join('. ');
  const hidden = quotesArgument(error) ? withoutKeys : (text: string) => text;
  return {
    message: hidden(message),
    hint: all.length === 0 ? undefined : hidden(hint),
    command: last?.command,
  };
}

/** Only a usage error quotes an argument. An error with `remains` names a link or file that must not be changed. */
function quotesArgument(error: unknown): boolean {
  return error instanceof CliError && error.code === 'usage' && error.remains === undefined;
}

/** Matches the key of a link, also after a `#` that gateways have escaped, and a private key. */
const KEYS = /(#|%(?:25)*23|AGE-SECRET-KEY-1)[\w-]{16,}/gi;

const BARE_KEY = new RegExp(`(?<![\\w-])${LINK_KEY.source}(?![\\w-])`, 'g');

/** Matches a key of words: six or more, in quotes or joined by hyphens. */
const WORDS =
  /(?<=["=])[a-z]{3,}(?:[\s-]+[a-z]{3,}){5,}(?=\\?")|(?<![a-z])[a-z]{3,}(?:-[a-z]{3,}){5,}/gi;

function withoutKeys(text: string): string {
  return text.replace(KEYS, '$1…').replace(BARE_KEY, '…');
}

/** Removes keys of words. Five known words suffice, as one may be mistyped; other words may be the name of a file. */
async function withoutWords(text: string, error: unknown): Promise<string> {
  if (!quotesArgument(error) || text.search(WORDS) === -1) return text;
  const list = new Set(await wordList());
  return text.replace(WORDS, (match) => {
    const words = match.toLowerCase().split(/[\s-]+/);
    return words.filter((word) => list.has(word)).length >= 5 ? '…' : match;
  });
}

/** Returns stack frames, those of the innermost cause last. Messages are left out, since they can quote secrets. */
function frames(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const lines = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  const { code } = error as NodeJS.ErrnoException;
  const name = code === undefined ? error.name : `${error.name} ${code}`;
  return `${[`debug: ${name}`, ...lines].map(safe).join('\n')}\n${frames(error.cause)}`;
}
