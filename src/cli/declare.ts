import { Option } from 'commander';
import type { Command } from './command';
import { filled, newFileName, positive, storedFileName } from './values';

/** Parses a value; `name` is the option or variable that messages name. */
type Parse<T> = (text: string, name: string) => T;

/** Other options that an option excludes, or of which it requires one, where their values are such. */
interface Rule<T> {
  readonly others: readonly string[];
  when(value: T, other?: unknown): boolean;
  readonly hint?: string | undefined;
}

const always = () => true;

/** An option that knows whether `-h` shows it where a command has many. */
class Declared extends Option {
  common = false;
}

/**
 * The declaration of one option: flags, help, parser, default, and what goes with it. `T` is the type of its value,
 * with `undefined` if it has no default; `Other` are the names of the options that it mentions.
 */
export class Row<T, Other extends string = never> {
  readonly option: Declared;
  /** With its `--no-…`, if there is one. */
  readonly options: Declared[];
  /** The value where the option is not given. */
  fallback: T;
  readonly conflicting: Rule<T>[] = [];
  readonly needed: Rule<T>[] = [];
  /** What it reads from standard input where its value is a dash. */
  input: string | undefined;
  /** Whether it has a meaning only with an instance, or takes the place of one. */
  instance: 'needed' | 'replaced' | undefined;
  /** For the type alone. */
  declare readonly other: Other;

  /** @param parse gets what was parsed before, if the option was given before */
  constructor(
    flags: string,
    help: string,
    fallback: T,
    readonly parse?: (text: string, name: string, before?: unknown) => T,
  ) {
    this.option = new Declared(flags, help);
    this.options = [this.option];
    this.fallback = fallback;
    const { long = '' } = this.option;
    if (parse) this.option.argParser((text: string, before?: unknown) => parse(text, long, before));
  }

  /** Its default, which the help names if it is a number or text. */
  or(value: Exclude<T, undefined>): Row<Exclude<T, undefined>, Other> {
    if (typeof value !== 'object' && typeof value !== 'boolean')
      this.option.default(value, String(value));
    this.fallback = value;
    return this as Row<unknown, Other> as Row<Exclude<T, undefined>, Other>;
  }

  /** What many use: `-h` shows it. Not its `--no-…`, if that is declared after this. */
  common(): this {
    for (const option of this.options) option.common = true;
    return this;
  }

  /** Declares `--no-…` too. */
  orNot(help: string): Row<T | false, Other> {
    this.options.push(new Declared(`${this.option.long}`.replace(/^--/, '--no-'), help));
    return this;
  }

  conflicts<Name extends string>(
    others: readonly Name[],
    when: Rule<T>['when'] = always,
  ): Row<T, Other | Name> {
    this.conflicting.push({ others, when });
    return this as Row<T, Other | Name>;
  }

  requires<Name extends string>(
    other: Name,
    hint?: string,
    when: Rule<T>['when'] = always,
  ): Row<T, Other | Name> {
    this.needed.push({ others: [other], when, hint });
    return this as Row<T, Other | Name>;
  }

  readsStandardInput(what: string): this {
    this.input = what;
    return this;
  }

  needsInstance(): this {
    this.instance = 'needed';
    return this;
  }

  replacesInstance(): this {
    this.instance = 'replaced';
    return this;
  }
}

/** Declarations by the name of the value. */
export type Rows = Readonly<Record<string, Row<unknown, string>>>;

type ValueOf<R> = R extends Row<infer T, string> ? T : never;

/** The values of options; those without a default may be missing. */
export type Values<R> = {
  readonly [K in keyof R as undefined extends ValueOf<R[K]> ? never : K]: ValueOf<R[K]>;
} & {
  readonly [K in keyof R as undefined extends ValueOf<R[K]> ? K : never]?: Exclude<
    ValueOf<R[K]>,
    undefined
  >;
};

export const flag = (flags: string, help: string) => new Row(flags, help, false as boolean);

/** A switch `--no-…`. */
export const switchOff = (flags: string, help: string) => new Row(flags, help, true as boolean);

/** `--x` and `--no-x`: undefined if neither is given. */
export const either = (flags: string, help: string, notHelp: string) =>
  new Row<boolean | undefined>(flags, help, undefined).orNot(notHelp);

/** Both, where the first is the default: only `--no-x` is listed. */
export function unlessNot(flags: string, notHelp: string) {
  const row = new Row(flags, '', true as boolean).orNot(notHelp);
  row.option.hideHelp();
  return row;
}

export const text = (flags: string, help: string) =>
  new Row<string | undefined>(flags, help, undefined);

export const parsed = <T>(flags: string, help: string, parse: Parse<T>) =>
  new Row<T | undefined>(flags, help, undefined, parse);

/** A text that cannot be empty, as an unset variable of a shell is. */
export const filledText = (flags: string, help: string) => parsed(flags, help, filled);

/** A file that is read, or standard input, from which it is `what`. */
export const inputFile = (flags: string, help: string, what: string) =>
  text(flags, help).readsStandardInput(what);

/** The name of a file that is read, and that is not standard input. */
export const storedFile = (flags: string, help: string) => parsed(flags, help, storedFileName);

/** The name of a file that is written, which no stream can take the place of. */
export const newFile = (flags: string, help: string) => parsed(flags, help, newFileName);

/** A whole number of 1 or more. */
export const count = (flags: string, help: string) => parsed(flags, help, positive);

/** An option that can be given several times. */
export const list = <T = string>(
  flags: string,
  help: string,
  parse: Parse<readonly T[]> = (value) => [value as T],
) =>
  new Row<readonly T[] | undefined>(flags, help, undefined, (value, name, before = []) => [
    ...(before as readonly T[]),
    ...parse(value, name),
  ]);

export function choice<const T extends string>(flags: string, help: string, words: readonly T[]) {
  const row = new Row<T | undefined>(flags, help, undefined);
  row.option.choices(words);
  return row;
}

/** An option whose value can be left out: `true` then. */
export const optional = <T = string>(flags: string, help: string, parse?: Parse<T>) =>
  new Row<T | true | undefined>(flags, help, undefined, parse);

export const isCommon = (option: Option) => option instanceof Declared && option.common;

/** The value that an option takes, by its flags; undefined for a switch. */
export function valueIn({ flags, variadic }: Option) {
  const [, mark, name] = /([<[])(.+?)(?:\.\.\.)?[>\]]/.exec(flags) ?? [];
  return name === undefined ? undefined : { name, required: mark === '<', variadic };
}

/** The kind of that value, by its name. */
export function valueKind(option: Option) {
  const { name = '' } = valueIn(option) ?? {};
  if (name === '') return 'flag';
  if (option.argChoices) return 'choice';
  if (/^(?:path|file|folder)$/.test(name)) return 'path';
  return name === 'n' ? 'number' : 'text';
}

/** Puts options under a heading of the help. */
export function group<R extends Readonly<Record<string, { readonly options: readonly Option[] }>>>(
  heading: string,
  rows: R,
): R {
  for (const { options } of Object.values(rows))
    for (const option of options) option.helpGroup(heading);
  return rows;
}

/** Adds options to a command, except those that it has already. */
export function declare(command: Command, rows: Rows): Command {
  for (const { options } of Object.values(rows))
    for (const option of options)
      if (!command.options.some(({ long }) => long === option.long)) command.addOption(option);
  return command;
}

/** Gives the value of an option that is not on the command line, if it is anywhere else. */
export type Elsewhere = (row: Rows[string]) => unknown;

/** The values that were given on a command or one above it, or `elsewhere`, over the defaults. */
export function valuesOf<R extends Rows>(
  rows: R,
  commands: readonly Command[],
  elsewhere: Elsewhere = () => undefined,
): Values<R> {
  const values: Record<string, unknown> = {};
  for (const [name, row] of Object.entries(rows)) {
    const key = row.option.attributeName();
    const typed = commands
      .filter((one) => one.getOptionValueSource(key) === 'cli')
      .map((one) => one.getOptionValue(key));
    const value = Array.isArray(typed[0])
      ? typed.flat()
      : (typed.at(-1) ?? elsewhere(row) ?? row.fallback);
    if (value !== undefined) values[name] = value;
  }
  return values as Values<R>;
}

/** The commands above a command, the program first, and itself. */
export function lineage(command: Command): readonly Command[] {
  return command.parent ? [...lineage(command.parent as Command), command] : [command];
}
