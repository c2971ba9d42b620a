import { Argument, type Command, Option } from 'commander';
import { oneOf } from './near-words';
import { filled, newFileName, positive, storedFileName } from './values';

/** Parses a value; `name` is the option, argument or variable that messages name. */
type Parse<T> = (text: string, name: string) => T;

/** Rows that another excludes, or of which it requires one, where `when` holds for their values. */
interface Rule<T> {
  readonly others: readonly string[];
  when(value: T, other?: unknown): boolean;
  readonly hint?: string | undefined;
}

const always = () => true;

/** What a value names: a path, or one of those that this machine knows. */
type Subject = 'path' | 'profile' | 'push' | 'request' | 'setting';

class DeclaredOption extends Option {
  /** Whether `-h` shows it where a command has many. */
  common = false;
  subject: Subject | undefined;
}

class DeclaredArgument extends Argument {
  subject: Subject | undefined;
}

interface Reading<T> {
  readonly parse?: Parse<unknown>;
  /** Whether `parse` returns a part of the value, which can be given several times. */
  readonly many?: boolean;
  readonly fallback?: T;
}

/** All values of an option, in the order of the line: they are parsed when all of it is known. */
const collected = (text: string, before: unknown) => [
  ...(Array.isArray(before) ? before : []),
  text,
];

/**
 * The declaration of an option or an argument: flags, help, parser, default, and what goes with it. `T` is the type of
 * its value, with `undefined` if it has no default; `Other` are the names of the rows that it mentions.
 */
export class Row<T, Other extends string = never> {
  /** An option, and its `--no-…`, if there is one; none for an argument. */
  readonly options: DeclaredOption[] = [];
  readonly argument: DeclaredArgument | undefined;
  /** How messages name it. */
  readonly label: string;
  readonly parse: Parse<unknown> | undefined;
  readonly many: boolean;
  fallback: T;
  readonly conflicting: Rule<T>[] = [];
  readonly needed: Rule<T>[] = [];
  /** What it reads from standard input where its value is a dash. */
  input: string | undefined;
  piped: { readonly what: string; readonly unless: readonly string[] } | undefined;
  /** Whether it has a meaning only with an instance, or takes the place of one. */
  instance: 'needed' | 'replaced' | undefined;
  /** For the type alone. */
  declare readonly other: Other;

  constructor(flags: string, help: string, { parse, many = false, fallback }: Reading<T> = {}) {
    this.parse = parse;
    this.many = many;
    this.fallback = fallback as T;
    if (flags.startsWith('-')) {
      const option = new DeclaredOption(flags, help);
      if (option.required || option.optional) option.argParser(collected);
      this.options.push(option);
      this.label = `${option.long}`;
    } else {
      this.argument = new DeclaredArgument(flags, help);
      this.label = this.argument.name().toUpperCase();
    }
  }

  /** Its default, which the help names if it is a number or text. */
  or(value: Exclude<T, undefined>): Row<Exclude<T, undefined>, Other> {
    if (typeof value !== 'object' && typeof value !== 'boolean')
      this.options[0]?.default(value, String(value));
    this.fallback = value;
    return this as Row<unknown, Other> as Row<Exclude<T, undefined>, Other>;
  }

  /** What many use: `-h` shows it. Not its `--no-…`, if that is declared after this. */
  common(): this {
    for (const option of this.options) option.common = true;
    return this;
  }

  orNot(help: string): Row<T | false, Other> {
    this.options.push(new DeclaredOption(this.label.replace(/^--/, '--no-'), help));
    return this;
  }

  conflicts<Name extends string>(
    others: readonly Name[],
    when: Rule<T>['when'] = always,
    hint = 'use only one of them',
  ): Row<T, Other | Name> {
    this.conflicting.push({ others, when, hint });
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

  /** Standard input is `what` even without a dash, unless the line has one of `unless`; a switch counts where it is given. */
  takesPiped(what: string, unless: readonly string[]): this {
    this.piped = { what, unless };
    return this;
  }

  names(subject: Subject): this {
    Object.assign(this.argument ?? this.options[0] ?? {}, { subject });
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

/** Declarations by the names of their values. */
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

export const flag = (flags: string, help: string) =>
  new Row<boolean>(flags, help, { fallback: false });

/** A switch that is declared as if it took a value, which is refused. */
export function bareFlag(flags: string, help: string, refuse: () => never) {
  const row = new Row<boolean>(flags, help, { fallback: false, parse: refuse });
  for (const option of row.options) Object.assign(option, { optional: true }).argParser(collected);
  return row;
}

export const switchOff = (flags: string, help: string) =>
  new Row<boolean>(flags, help, { fallback: true });

/** `--x` and `--no-x`: undefined if neither is given. */
export const either = (flags: string, help: string, notHelp: string) =>
  new Row<boolean | undefined>(flags, help).orNot(notHelp);

/** Both, where the first is the default: only `--no-x` is listed. */
export function negatable(flags: string, notHelp: string) {
  const row = switchOff(flags, '').orNot(notHelp);
  row.options[0]?.hideHelp();
  return row;
}

export const text = (flags: string, help: string) => new Row<string | undefined>(flags, help);

export const parsed = <T>(flags: string, help: string, parse: Parse<T>) =>
  new Row<T | undefined>(flags, help, { parse });

/** A text that cannot be empty, as an unset variable of a shell is. */
export const filledText = (flags: string, help: string) => parsed(flags, help, filled);

/** A file that is read, or standard input, from which it is `what`. */
export const inputFile = (flags: string, help: string, what: string) =>
  text(flags, help).names('path').readsStandardInput(what);

/** The name of a file that is read, and that is not standard input. */
export const storedFile = (flags: string, help: string) =>
  parsed(flags, help, storedFileName).names('path');

/** The name of a file that is written, which no stream can take the place of. */
export const newFile = (flags: string, help: string) =>
  parsed(flags, help, newFileName).names('path');

export const count = (flags: string, help: string) => parsed(flags, help, positive);

/** An option that can be given several times. */
export const list = <T = string>(
  flags: string,
  help: string,
  parse: Parse<readonly T[]> = (value) => [value as T],
) => new Row<readonly T[] | undefined>(flags, help, { parse, many: true });

/** Files of which each is read, or standard input, from which it is `what`. */
export const inputFiles = (flags: string, help: string, what: string) =>
  list(flags, help).names('path').readsStandardInput(what);

export function choice<const T extends string>(flags: string, help: string, words: readonly T[]) {
  const row = parsed(flags, help, oneOf(words));
  Object.assign(row.argument ?? row.options[0] ?? {}, { argChoices: words });
  return row;
}

/** The value of an argument: several words, or one, which can be left out. */
type Operand<Flags> = Flags extends `${string}...${string}`
  ? readonly string[]
  : Flags extends `<${string}`
    ? string
    : string | undefined;

export const operand = <Flags extends string>(flags: Flags, help: string, parse?: Parse<unknown>) =>
  new Row<Operand<Flags>>(flags, help, parse && { parse });

/** An option whose value can be left out: `true` then. */
export const optional = <T = string>(flags: string, help: string, parse?: Parse<T>) =>
  new Row<T | true | undefined>(flags, help, parse && { parse });

export const isCommon = (option: Option) => option instanceof DeclaredOption && option.common;

export const subjectOf = (one: Option | Argument): Subject | undefined =>
  one instanceof DeclaredOption || one instanceof DeclaredArgument ? one.subject : undefined;

/** The value that an option takes, by its flags; undefined for a switch. */
export function valueIn({ flags, variadic }: Option) {
  const [, mark, name] = /([<[])(.+?)(?:\.\.\.)?[>\]]/.exec(flags) ?? [];
  return name === undefined ? undefined : { name, required: mark === '<', variadic };
}

export function valueKind(option: Option) {
  const { name } = valueIn(option) ?? {};
  if (name === undefined) return 'flag';
  if (option.argChoices) return 'choice';
  if (subjectOf(option) === 'path') return 'path';
  return name === 'n' ? 'number' : 'text';
}

export function group<R extends Readonly<Record<string, { readonly options: readonly Option[] }>>>(
  heading: string,
  rows: R,
): R {
  for (const { options } of Object.values(rows))
    for (const option of options) option.helpGroup(heading);
  return rows;
}

/** Adds arguments and options to a command, except those that it has already. */
export function declare<C extends Command>(command: C, rows: Rows): C {
  for (const { options, argument } of Object.values(rows)) {
    if (argument) command.addArgument(argument);
    for (const option of options)
      if (!command.options.some(({ long }) => long === option.long)) command.addOption(option);
  }
  return command;
}

/** Gives the value of an option that is not on the command line, if it is anywhere else. */
export type Elsewhere = (row: Rows[string]) => unknown;

/**
 * The values that were given on a command or one above it, or `elsewhere`, over the defaults.
 * @throws CliError (usage) for a value that cannot be
 */
export function valuesOf<R extends Rows>(
  rows: R,
  commands: readonly Command[],
  elsewhere: Elsewhere = () => undefined,
): Values<R> {
  const values: Record<string, unknown> = {};
  for (const [name, row] of Object.entries(rows)) {
    const value = parsedValues(row, typedFor(row, commands)) ?? elsewhere(row) ?? row.fallback;
    if (value !== undefined) values[name] = value;
  }
  return values as Values<R>;
}

/** What a line says for a row: texts, and `true` or `false` for options without a value. */
function typedFor({ options: [option], argument }: Rows[string], commands: readonly Command[]) {
  if (argument) {
    const [last] = commands.slice(-1);
    const at = last?.registeredArguments.indexOf(argument) ?? -1;
    return [last?.processedArgs[at] ?? []].flat();
  }
  const key = option?.attributeName() ?? '';
  return commands
    .filter((one) => one.getOptionValueSource(key) === 'cli')
    .flatMap((one) => one.getOptionValue(key));
}

function parsedValues({ parse, many, label, argument }: Rows[string], typed: readonly unknown[]) {
  if (typed.length === 0) return undefined;
  const name = argument?.name() ?? label;
  const values = typed.map((one) => (typeof one === 'string' && parse ? parse(one, name) : one));
  return many || argument?.variadic ? values.flat() : values.at(-1);
}

/** The commands above a command, the program first, and itself. */
export function lineage<C extends Command>(command: C): readonly C[] {
  // A program and the commands below it are of one class.
  return command.parent ? [...lineage(command.parent as C), command] : [command];
}
