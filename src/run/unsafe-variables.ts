import type { Context } from '../platform/context';
import { phrase, usageError } from '../platform/errors';
import lists from './unsafe-variables.txt?raw';

/**
 * The list cannot be complete: every program may have such variables of its own, and make reads all of them. It is the
 * second line of defence; the first are that nothing that is set is replaced, and `--only`.
 */
const [always, families, credentials, settings] = lists.split('\n\n').map(globs) as Matchers;

type Matcher = (upper: string) => boolean;
type Matchers = [Matcher, Matcher, Matcher, Matcher];

function globs(text: string): Matcher {
  const words = text.replace(/^#.*$/gm, '').trim().split(/\s+/);
  const names = new Set(words);
  const prefixes = words.filter((one) => one.endsWith('*')).map((one) => one.slice(0, -1));
  const suffixes = words.filter((one) => one.startsWith('*')).map((one) => one.slice(1));
  // A text may have a million names, and one expression is several times faster than a loop over the list.
  const beginning = new RegExp(`^(?:${prefixes.join('|') || '(?!)'})`);
  return (upper) =>
    names.has(upper) || beginning.test(upper) || suffixes.some((one) => upper.endsWith(one));
}

/** Whether someone else's secret may set it only if the user allows it. Ignores case, as Windows does. */
export function isUnsafe(name: string): boolean {
  const upper = name.toUpperCase();
  return always(upper) || (families(upper) && !credentials(upper));
}

/** The same for a variable that the user named for the path of a file. */
export function isUnsafeForFile(name: string): boolean {
  return isUnsafe(name) && !settings(name.toUpperCase());
}

/** Which variables of a text the user allows. */
export interface NameRules {
  /** Names that may be set although they are unsafe. */
  readonly allow: readonly string[];
  /** The names that are taken; all when empty. */
  readonly only: readonly string[];
}

type Surroundings = Pick<Context, 'env' | 'platform'>;

/**
 * The variables of a text that the rules select. Names in `only` or `allow` may replace a variable that is set; any other
 * may not, unless the value is the same.
 * @param which what the error calls the text
 * @throws CliError (usage) that names the refused variables
 */
export function permitted(
  variables: ReadonlyMap<string, string>,
  { allow, only }: NameRules,
  context: Surroundings,
  which: string,
): ReadonlyMap<string, string> {
  const selected = [...variables].filter(([name]) => only.length === 0 || only.includes(name));
  const unlisted = selected.filter(([name]) => !allow.includes(name));
  const unsafe = unlisted.map(([name]) => name).filter(isUnsafe);
  const refused = new Set(unsafe);
  const harmless = unlisted.filter(([name]) => !refused.has(name));
  const replaced = only.length === 0 ? replacedIn(harmless, context) : [];
  const why = [
    ...(unsafe.length > 0
      ? [`${unsafe.join(', ')}, which would change what is loaded and run`]
      : []),
    ...(replaced.length > 0
      ? [`${replaced.join(', ')}, already set to another value in the environment`]
      : []),
  ];
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

/** The names that have another value in the environment; Windows ignores their case. */
function replacedIn(
  variables: readonly (readonly [string, string])[],
  { env, platform }: Surroundings,
): string[] {
  const key = (name: string) => (platform === 'win32' ? name.toUpperCase() : name);
  const there = new Map(Object.entries(env).map(([name, value]) => [key(name), value]));
  return variables
    .filter(([name, value]) => (there.get(key(name)) ?? value) !== value)
    .map(([name]) => name);
}

/** @throws CliError (usage) for names of `--only` that are not among those found */
export function checkFound(only: readonly string[], found: readonly string[], what: string): void {
  const there = new Set(found);
  const missing = only.filter((name) => !there.has(name));
  if (missing.length > 0)
    throw usageError(`${what} no line ${missing.map((name) => `${name}=…`).join(' or ')}`);
}
