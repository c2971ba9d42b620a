// Options, their variables, and settings share these parsers; messages call the value `name`.
import type { Kind } from '../contract/api';
import {
  DAY_SECONDS,
  durationText,
  type Edition,
  type Expiry,
  parseDuration,
  parseExpiry,
} from '../contract/lifetime';
import { usageError } from '../platform/errors';

export function truth(text: string, name: string): boolean {
  if (/^(?:1|true|yes|on)$/i.test(text)) return true;
  if (/^(?:0|false|no|off)$/i.test(text)) return false;
  throw usageError(`${name} must be on or off, or true or false, not "${text}"`);
}

/** Refuses an empty value, which an unset variable of the shell gives. */
export function filled(value: string, name: string): string {
  if (value !== '') return value;
  throw usageError(`${name} must not be empty`);
}

const fileName = (does: string) => (value: string, name: string) => {
  if (value !== '-') return filled(value, name);
  throw usageError(`${name} ${does}`, 'name a file');
};

/** Refuses a dash, which other programs take for standard output, where the secret would not be hidden. */
export const newFileName = fileName('writes to a new file, not to standard output');
/** Refuses standard input: the file is read when it is needed, perhaps more than once. */
export const storedFileName = fileName('reads a file, not standard input');

/** Returns the name of an attached file that comes from standard input: its path is `-` or `-=NAME`. */
export function pipedFileName(path: unknown): string | undefined {
  return path === '-' ? 'stdin' : /^-=(.*)$/s.exec(`${path}`)?.[1];
}

/** @throws CliError (usage) for a name of standard input that is empty or has folders */
export function attachedFile(path: string, name: string): readonly string[] {
  if (/^$|[/\\\0]/.test(pipedFileName(path) ?? 'file'))
    throw usageError(`${name} -=NAME requires a name without folders`);
  return [path];
}

export function names(value: string): string[] {
  return value.split(',').map((name) => name.trim());
}

export const editions = ['oss', 'commercial', 'pwpush'] as const satisfies Edition[];

export function expiry(value: string, name: string): Expiry {
  const parsed = parseExpiry(value);
  if (parsed) return parsed;
  throw usageError(
    `${name} must be a duration or a time, not "${value}"`,
    // A number alone does not say what it counts.
    /^\d{1,9}$/.test(value)
      ? `${value}h or ${value}d?`
      : 'use 45m, 6h, 3d, 2w or 1mo, or a time such as 2026-12-01 or 2026-12-01T09:00',
  );
}

/** The reference implementation gives no push a longer lifetime, so that `--for` waits no longer. */
const LONGEST_WAIT_SECONDS = 90 * DAY_SECONDS;

export function waitingTime(value: string, name: string): number {
  return seconds(value, name, LONGEST_WAIT_SECONDS);
}

/** Parses a time such as `90s` or `45m`, or a number of seconds, fractions allowed: more than 0, at most `most`. */
export function seconds(value: string, name: string, most = DAY_SECONDS): number {
  const time = parseDuration(value) ?? (/^\d+(\.\d+)?$/.test(value) ? Number(value) : undefined);
  if (time === undefined)
    throw usageError(`${name} must be a time such as 90s, 45m or 6h, not "${value}"`);
  if (time > most)
    throw usageError(`${name} must be at most ${durationText(most)}, not "${value}"`);
  if (time > 0) return time;
  throw usageError(`${name} must be more than 0, not "${value}"`);
}

/** Parses a duration of a minute to ten years; returns seconds. */
export function tokenLifetime(value: string, name: string): number {
  const time = parseDuration(value) ?? 0;
  if (time >= 60 && time <= 3650 * DAY_SECONDS) return time;
  throw usageError(`${name} must be a duration of 1m to 3650d, not "${value}"`);
}

/** Parses whole days, 1 or more: a number of them, or a time such as `2w`. */
export function days(value: string, name: string): number {
  const time = parseDuration(value);
  if (time === undefined) return positive(value, name);
  if (time > 0 && time % DAY_SECONDS === 0) return positive(`${time / DAY_SECONDS}`, name);
  throw usageError(
    `${name} counts whole days, not "${value}"`,
    name === '--days' ? `use --expire ${value}` : 'use a number, or a time such as 3d or 2w',
  );
}

export function positive(value: string, name: string): number {
  if (/^[1-9]\d{0,8}$/.test(value)) return Number(value);
  if (/^[1-9]\d*$/.test(value)) throw usageError(`${name} must be at most 999999999`);
  throw usageError(`${name} must be a whole number of 1 or more, not "${value}"`);
}

const whole = (digits: RegExp, most: number, what: string) => (value: string, name: string) => {
  if (digits.test(value) && Number(value) <= most) return Number(value);
  throw usageError(`${name} must be ${what}, not "${value}"`);
};

export const accountId = whole(/^[1-9]\d{0,14}$/, Infinity, 'the ID of an account, a whole number');
/** 0 means any free port. */
export const port = whole(/^\d{1,5}$/, 65_535, 'a whole number from 0 to 65535');
/** Parses 1 to 200 (docs/wire.md). */
export const pageNumber = whole(/^[1-9]\d{0,2}$/, 200, 'a whole number from 1 to 200');

/** @throws CliError (usage) for a kind of push that the instance must read, as only our own pages decrypt it */
export function checkEncryptable(kind: Kind | undefined, edition: Edition): void {
  if (edition === 'pwpush') return;
  throw usageError(
    `--kind ${kind} cannot be encrypted: this instance is not pwpush serve, and must read it`,
    'remove --kind, or push it with --no-encrypt',
  );
}

/** Matches names that every shell accepts (POSIX, "Environment Variable Definition"). */
export const VARIABLE_NAME = '[A-Za-z_][A-Za-z0-9_]*';

export function isVariableName(text: string): boolean {
  return new RegExp(`^${VARIABLE_NAME}$`).test(text);
}

/**
 * Splits a command into words, as `token-command` documents it: at spaces, except in quotes. Nothing is expanded.
 * Single quotes keep every character. A backslash keeps a double quote or backslash within double quotes, and any
 * character outside quotes.
 * @param from names the command in errors
 * @throws CliError (usage) for an open quote or no word
 */
export function commandWords(text: string, from: string): readonly [string, ...string[]] {
  const parts = /\s+|'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([\s\S])|([^\s'"\\]+)|([\s\S])/g;
  const words: string[] = [];
  let word: string | undefined;
  const end = () => {
    if (word !== undefined) words.push(word);
    word = undefined;
  };
  for (const [, single, double, escaped, bare, open] of text.matchAll(parts)) {
    if (open !== undefined) throw usageError(`${from} has a quote or backslash without its end`);
    const piece = single ?? double?.replace(/\\(["\\])/g, '$1') ?? escaped ?? bare;
    if (piece === undefined) end();
    else word = (word ?? '') + piece;
  }
  end();
  const [first, ...rest] = words;
  if (!first) throw usageError(`${from} names no program`);
  return [first, ...rest];
}
