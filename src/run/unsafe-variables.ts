import type { Context } from '../platform/context';
import { phrase, usageError } from '../platform/errors';
import { MARKERS } from '../platform/surroundings';
import lists from './unsafe-variables.txt?raw';

/**
 * The list cannot be complete: every program may have such variables of its own, and make reads all variables. It is
 * the second line of defence; the first are `--only`, and that no variable of the environment is replaced.
 */
const [always, families, credentials, settings] = lists.split('\n\n').map(globs) as Matchers;

type Matcher = (upper: string) => boolean;
type Matchers = [Matcher, Matcher, Matcher, Matcher];

function globs(text: string): Matcher {
  const words = text.replace(/^#.*$/gm, '').trim().split(/\s+/);
  const names = new Set(words);
  const prefixes = words.filter((word) => word.endsWith('*')).map((word) => word.slice(0, -1));
  const suffixes = words.filter((word) => word.startsWith('*')).map((word) => word.slice(1));
  // A text may have a million names, and one expression is several times faster than a loop over the list.
  const beginning = new RegExp(`^(?:${prefixes.join('|') || '(?!)'})`);
  return (upper) =>
    names.has(upper) || beginning.test(upper) || suffixes.some((suffix) => upper.endsWith(suffix));
}

/** A value of `0` would have a run of pwpush in the program print secrets to an agent. */
const agents: ReadonlySet<string> = new Set(MARKERS);

/** Whether a pushed text needs the user's leave to set a variable. The case of names is ignored, as on Windows. */
export function isUnsafe(name: string): boolean {
  const upper = name.toUpperCase();
  return always(upper) || (families(upper) && !credentials(upper)) || agents.has(upper);
}

/** With `--file`, the user names the variable and the value is a path of ours, so that settings are safe. */
export function isUnsafeForFile(name: string): boolean {
  return isUnsafe(name) && !settings(name.toUpperCase());
}

export interface NameRules {
  /** Unsafe names that may be set. */
  readonly allow: readonly string[];
  /** Names to take from the text; all names if the list is empty. */
  readonly only: readonly string[];
}

/**
 * Selects variables of a text by the rules. Names in `only` or `allow` may replace a variable that is set; any other
 * may not, unless the value is the same.
 * @param which names the text in errors
 * @throws CliError (usage) that names the refused variables
 */
export function permitted(
  variables: ReadonlyMap<string, string>,
  { allow, only }: NameRules,
  { env, platform }: Pick<Context, 'env' | 'platform'>,
  which: string,
): ReadonlyMap<string, string> {
  // Windows ignores the case of names.
  const key = (name: string) => (platform === 'win32' ? name.toUpperCase() : name);
  const environment = new Map(Object.entries(env).map(([name, value]) => [key(name), value]));
  const selected = [...variables].filter(([name]) => only.length === 0 || only.includes(name));
  const unsafe: string[] = [];
  const replaced: string[] = [];
  for (const [name, value] of selected) {
    if (allow.includes(name)) continue;
    if (isUnsafe(name)) unsafe.push(name);
    else if (only.length === 0 && (environment.get(key(name)) ?? value) !== value)
      replaced.push(name);
  }
  const why: string[] = [];
  if (unsafe.length > 0)
    why.push(`${unsafe.join(', ')}, which would change what is loaded and run`);
  if (replaced.length > 0)
    why.push(`${replaced.join(', ')}, already set to another value in the environment`);
  if (why.length > 0)
    throw usageError(
      `${which} sets ${why.join('; and ')}`,
      phrase(
        only.length > 0 ? 'allow-variables' : 'allow-variables-or-only',
        [...unsafe, ...replaced].join(','),
      ),
    );
  return new Map(selected);
}

/** @throws CliError (usage) if `available` lacks a name of `--only` */
export function checkAvailable(
  only: readonly string[],
  available: Set<string>,
  what: string,
): void {
  const missing = only.filter((name) => !available.has(name));
  if (missing.length > 0)
    throw usageError(`${what} no line ${missing.map((name) => `${name}=…`).join(' or ')}`);
}
