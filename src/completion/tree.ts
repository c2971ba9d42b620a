import type { Argument, Command, Option } from 'commander';
import { settingNames } from '../profile/settings';

/** What may stand somewhere: one of these words, a path, a profile's name, a command, or nothing we know. */
export type Values = readonly string[] | 'paths' | 'profiles' | 'nothing';

export interface Offer {
  readonly name: string;
  readonly summary: string;
}

export interface Switch {
  /** `-d` and `--days`. */
  readonly names: readonly string[];
  readonly summary: string;
  /** What has to follow; undefined where nothing has to. */
  readonly takes: Values | undefined;
  /** Several may follow. */
  readonly many: boolean;
}

/** What can be typed behind `pwpush` and these words. */
export interface Place {
  /** Such as `profile set`; empty for the program itself. */
  readonly path: string;
  readonly words: readonly Offer[];
  readonly options: readonly Switch[];
  /** What stands first, second and so on. */
  readonly values: readonly Values[];
}

/** All places of a program, itself first; `topics` is what its help knows besides its commands. */
export function placesOf(program: Command, topics: readonly string[]): Place[] {
  const [root, ...others] = walk(program, '');
  const words = [...(root?.words ?? []), { name: 'help', summary: 'help on a command or a topic' }];
  const known = program.commands.map((command) => command.name());
  const help = { path: 'help', words: [], options: [], values: [[...known, ...topics]] };
  return [{ path: '', options: root?.options ?? [], values: [], words }, ...others, help];
}

function walk(command: Command, path: string): Place[] {
  const below = command.commands.map((one) => ({
    one,
    path: path === '' ? one.name() : `${path} ${one.name()}`,
  }));
  const place: Place = {
    path,
    words: below.map(({ one }) => ({
      name: one.name(),
      summary: one.summary() || one.description(),
    })),
    options: command.createHelp().visibleOptions(command).map(switchOf),
    values: command.registeredArguments.map((argument) => valuesOf(argument, path)),
  };
  return [place, ...below.flatMap((next) => walk(next.one, next.path))];
}

function switchOf(option: Option): Switch {
  const names = [option.short, option.long].filter((name) => typeof name === 'string');
  const takes = option.required ? taken(option) : undefined;
  return { names, summary: option.description, takes, many: option.variadic };
}

function taken({ argChoices, flags, long }: Option): Values {
  if (argChoices !== undefined) return argChoices;
  if (long === '--profile') return 'profiles';
  return /<(path|file|folder)(\.\.\.)?>/.test(flags) ? 'paths' : 'nothing';
}

function valuesOf(argument: Argument, path: string): Values {
  if (argument.argChoices !== undefined) return argument.argChoices;
  const name = argument.name();
  if (name === 'key') return settingNames;
  if (name === 'name' && path.startsWith('profile ')) return 'profiles';
  return /^(path|file|folder)$/.test(name) ? 'paths' : 'nothing';
}

/** An option or position as the scripts write it: `words:a b`, `paths`, `profiles` or `nothing`. */
export function spelled(values: Values): string {
  return typeof values === 'string' ? values : `words:${values.join(' ')}`;
}

/** What a `case` of a script looks at → what it answers there. */
export interface Arm {
  readonly patterns: readonly string[];
  readonly answer: string;
}

/** `place option` → what it takes; global options stand in every place and are looked at last, as `* option`. */
export function takingArms(places: readonly Place[]): Arm[] {
  const root = places[0]?.options ?? [];
  const global = new Set(root.flatMap(({ names }) => names));
  const own = places
    .slice(1)
    .flatMap(({ path, options }) =>
      options
        .filter(({ names }) => !names.some((name) => global.has(name)))
        .map((option) => arm(path, option)),
    );
  const shared = root.map((option) => arm('*', option));
  return merged([...own, ...shared].filter((one) => one !== undefined));
}

function arm(path: string, { names, takes, many }: Switch): Arm | undefined {
  if (takes === undefined) return undefined;
  return {
    patterns: names.map((name) => `${path} ${name}`),
    answer: `${many ? 'many ' : ''}${spelled(takes)}`,
  };
}

/** `place position` → what stands there. */
export function positionArms(places: readonly Place[]): Arm[] {
  const arms = places.flatMap(({ path, values }) =>
    values.map((one, at) => ({ patterns: [`${path} ${at}`], answer: spelled(one) })),
  );
  return merged(arms.filter(({ answer }) => answer !== 'nothing'));
}

function merged(arms: readonly Arm[]): Arm[] {
  const patterns = new Map<string, string[]>();
  for (const one of arms)
    patterns.set(one.answer, [...(patterns.get(one.answer) ?? []), ...one.patterns]);
  return [...patterns].map(([answer, all]) => ({ answer, patterns: all }));
}

/** Where the path goes on: `place/word`. */
export function stepArms(places: readonly Place[]): Arm[] {
  return places
    .slice(1)
    .map(({ path }) => ({ patterns: [path.replace(/^(?:(.*) )?(\S+)$/, '$1/$2')], answer: path }));
}
