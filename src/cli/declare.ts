import { Argument, type Command, Option } from 'commander';
import type { Environment } from '../platform/context';
import { usageError } from '../platform/errors';
import { readVariable } from '../platform/files/read-variable';
import { oneOf } from './near-words';
import { filled, newFileName, positive, storedFileName, truth } from './values';

/** Messages call the option, argument or variable `name`. */
type Parse<T> = (text: string, name: string) => T;

/** If `when` returns true for the value, the row excludes the rows `others`, or requires one of them. */
interface Rule<T> {
  readonly others: readonly string[];
  when(value: T, other?: unknown): boolean;
  readonly hint?: string | undefined;
}

const always = () => true;

/** What shell completion offers as the value: paths, or names of this kind that the machine knows. */
type Subject = 'path' | 'profile' | 'push' | 'request' | 'setting' | 'value';

class DeclaredOption extends Option {
  /** If true, `--help` shows the option also for a command with many options. */
  common = false;
  subject: Subject | undefined;
  #attribute: string | undefined;

  /** Commander asks for it dozens of times. */
  override attributeName(): string {
    this.#attribute ??= super.attributeName();
    return this.#attribute;
  }
}

class DeclaredArgument extends Argument {
  subject: Subject | undefined;
}

interface Reading<T> {
  readonly parse?: Parse<unknown>;
  /** If true, the option can be given several times, and `parse` returns a part of the value. */
  readonly many?: boolean;
  readonly fallback?: T;
}

/** Collects the values of an option, which are parsed when the whole line is known. */
const collected = (text: string, before: unknown) => [
  ...(Array.isArray(before) ? before : []),
  text,
];

/**
 * Declares an option or an argument: flags, help, parser, default, and what excludes it. `T` is the type of the value,
 * and includes `undefined` if there is no default. `Other` has the names of the rows that it excludes or requires.
 */
export class Row<T, Other extends string = never> {
  /** An option, and its `--no-…`, if there is one; empty for an argument. */
  readonly options: DeclaredOption[] = [];
  readonly argument: DeclaredArgument | undefined;
  readonly label: string;
  readonly parse: Parse<unknown> | undefined;
  readonly many: boolean;
  fallback: T;
  readonly conflicting: Rule<T>[] = [];
  readonly needed: Rule<T>[] = [];
  /** Names what is read from standard input by the values that `is` accepts. */
  input: { readonly what: string; is(value: unknown): boolean } | undefined;
  /** The variable of the environment that sets the value if the option was not typed. */
  variable: string | undefined;
  /** For a link: the rows in place of which it can be missing. */
  link: readonly string[] | undefined;
  piped: { readonly what: string; readonly unless: readonly string[] } | undefined;
  /** `needed` if the value has a meaning only with an instance, `replaced` if it takes the place of one. */
  instance: 'needed' | 'replaced' | undefined;
  /** Exists for the compiler alone, which checks the names of other rows. */
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

  /** Sets the default. The help names it if it is a number or text. */
  or(value: Exclude<T, undefined>): Row<Exclude<T, undefined>, Other> {
    if (typeof value !== 'object' && typeof value !== 'boolean')
      this.options[0]?.default(value, String(value));
    this.fallback = value;
    return this as Row<unknown, Other> as Row<Exclude<T, undefined>, Other>;
  }

  /** Makes `--help` show the option, and its `--no-…` if `orNot` was called before. */
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

  /** Hides the option, and refuses it by the name of its variable. */
  byVariable(): this {
    const refuse = () => {
      throw usageError(`${this.label} is not an option`, `set ${this.variable}`);
    };
    for (const option of this.options)
      Object.assign(option.hideHelp(), { required: false, optional: true })
        .preset('')
        .argParser(refuse);
    return this;
  }

  readsStandardInput(what: string, is = (value: unknown): boolean => value === '-'): this {
    this.input = { what, is };
    return this;
  }

  /** A terminal asks for a missing link, unless the line has one of `unless`. */
  asksForLink(unless: readonly string[] = []): this {
    this.link = unless;
    return this.readsStandardInput('the link');
  }

  /** Piped standard input is `what` without a dash too, unless the line has one of `unless`; a switch must be typed. */
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

export type Rows = Readonly<Record<string, Row<unknown, string>>>;

type ValueOf<R> = R extends Row<infer T, string> ? T : never;

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

/** Declares a switch as if it took a value, which `refuse` refuses. */
export function bareFlag(flags: string, help: string, refuse: () => never) {
  const row = new Row<boolean>(flags, help, { fallback: false, parse: refuse });
  for (const option of row.options) Object.assign(option, { optional: true }).argParser(collected);
  return row;
}

export const switchOff = (flags: string, help: string) =>
  new Row<boolean>(flags, help, { fallback: true });

/** The value is undefined if neither `--x` nor `--no-x` was typed. Both have one row in the help, as `--[no-]x`. */
export const either = (flags: string, help: string) =>
  new Row<boolean | undefined>(flags, help).orNot(help);

/** `--x` is the default, so that the help lists only `--no-x`. */
export function negatable(flags: string, notHelp: string) {
  const row = switchOff(flags, '').orNot(notHelp);
  row.options[0]?.hideHelp();
  return row;
}

export const text = (flags: string, help: string) => new Row<string | undefined>(flags, help);

export const parsed = <T>(flags: string, help: string, parse: Parse<T>) =>
  new Row<T | undefined>(flags, help, { parse });

/** Refuses an empty text, which an unset variable of a shell leaves. */
export const filledText = (flags: string, help: string) => parsed(flags, help, filled);

/** A dash as the value reads `what` from standard input. */
export const inputFile = (flags: string, help: string, what: string) =>
  text(flags, help).names('path').readsStandardInput(what);

/** The file cannot be standard input, as it may be read more than once. */
export const storedFile = (flags: string, help: string) =>
  parsed(flags, help, storedFileName).names('path');

/** Refuses a dash, as the option must not write to standard output. */
export const newFile = (flags: string, help: string) =>
  parsed(flags, help, newFileName).names('path');

export const count = (flags: string, help: string) => parsed(flags, help, positive);

export const list = <T = string>(
  flags: string,
  help: string,
  parse: Parse<readonly T[]> = (value) => [value as T],
) => new Row<readonly T[] | undefined>(flags, help, { parse, many: true });

/** A dash as the value reads `what` from standard input. */
export const inputFiles = (flags: string, help: string, what: string) =>
  list(flags, help, (path, name) => [filled(path, name)])
    .names('path')
    .readsStandardInput(what);

export function choice<const T extends string>(flags: string, help: string, words: readonly T[]) {
  const row = parsed(flags, help, oneOf(words));
  Object.assign(row.argument ?? row.options[0] ?? {}, { argChoices: words });
  return row;
}

type Operand<Flags> = Flags extends `${string}...${string}`
  ? readonly string[]
  : Flags extends `<${string}`
    ? string
    : string | undefined;

export const operand = <Flags extends string>(flags: Flags, help: string, parse?: Parse<unknown>) =>
  new Row<Operand<Flags>>(flags, help, parse && { parse });

/** The value of an option without one is `true`. */
export const optional = <T = string>(flags: string, help: string, parse?: Parse<T>) =>
  new Row<T | true | undefined>(flags, help, parse && { parse });

export const isCommon = (option: Option) => option instanceof DeclaredOption && option.common;

export const subjectOf = (declared: Option | Argument): Subject | undefined =>
  declared instanceof DeclaredOption || declared instanceof DeclaredArgument
    ? declared.subject
    : undefined;

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

/** Adds rows to a command, except options that it already has. */
export function declare<C extends Command>(command: C, rows: Rows): C {
  for (const { options, argument } of Object.values(rows)) {
    if (argument) command.addArgument(argument);
    for (const option of options)
      if (!command.options.some(({ long }) => long === option.long)) command.addOption(option);
  }
  return command;
}

/**
 * Returns the values typed for a command and those above it, else values of its variables, else the defaults.
 * @throws CliError (usage) for an invalid value
 */
export function valuesOf<R extends Rows>(
  rows: R,
  commands: readonly Command[],
  env: Environment = {},
): Values<R> {
  const values: Record<string, unknown> = {};
  for (const [name, row] of Object.entries(rows)) {
    const typed = parsedValues(row, typedFor(row, commands));
    const value = typed ?? variableValue(row, env) ?? row.fallback;
    if (value !== undefined) values[name] = value;
  }
  return values as Values<R>;
}

/** Returns what was typed for a row: `true` or `false` for an option without a value, else texts. */
function typedFor({ options: [option], argument }: Rows[string], commands: readonly Command[]) {
  if (argument) {
    const [last] = commands.slice(-1);
    const index = last?.registeredArguments.indexOf(argument) ?? -1;
    return [last?.processedArgs[index] ?? []].flat();
  }
  const key = option?.attributeName() ?? '';
  return commands
    .filter((command) => command.getOptionValueSource(key) === 'cli')
    .flatMap((command) => command.getOptionValue(key));
}

function parsedValues({ parse, many, label, argument }: Rows[string], typed: readonly unknown[]) {
  if (typed.length === 0) return undefined;
  const name = argument?.name() ?? label;
  const values = typed.map((value) =>
    typeof value === 'string' && parse ? parse(value, name) : value,
  );
  return many || argument?.variadic ? values.flat() : values.at(-1);
}

/** An empty variable counts as not set. */
function variableValue({ variable, fallback, parse }: Rows[string], env: Environment): unknown {
  const text = variable && readVariable(env, variable);
  if (!variable || text === undefined) return undefined;
  if (typeof fallback === 'boolean') return truth(text, variable);
  return parse ? parse(text, variable) : text;
}

/** Returns a command and those above it, the program first. */
export function lineage<C extends Command>(command: C): readonly C[] {
  // A program and the commands below it are of one class.
  return command.parent ? [...lineage(command.parent as C), command] : [command];
}
