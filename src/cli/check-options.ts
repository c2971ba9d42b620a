// Rows of options declare what they exclude and require, and what they read from standard input, which has one reader.
import { fstatSync } from 'node:fs';
import type { Context } from '../platform/context';
import { usageError } from '../platform/errors';
import { filledIn } from './ask-until';
import type { Command } from './command';
import type { Row, Rows } from './declare';
import { missingArgument } from './help/misuse';
import { readAll } from './source';

interface TypedValue {
  readonly name: string;
  readonly row: Row<unknown, string>;
  readonly value: unknown;
}

/**
 * Checks the options of a command line, in the order of their rows.
 * @param stdin is used only if an option reads it: a stream of Node.js takes milliseconds to load
 * @param own what the command itself reads from standard input
 * @throws CliError (usage)
 */
export function checkOptions(
  rows: Rows,
  values: object,
  stdin: { readonly isTTY: boolean },
  own?: string,
): void {
  const typed = typedValues(rows, values);
  for (const option of typed) {
    for (const other of typed) {
      const hint = conflictHint(option, other);
      if (hint !== undefined)
        throw usageError(`${labelOf(option)} cannot be combined with ${labelOf(other)}`, hint);
    }
    for (const { others, when, hint } of option.row.needed)
      if (when(option.value) && !typed.some(({ name }) => others.includes(name))) {
        const needed = others.map((name) => usageOf(rows[name])).join(' or ');
        throw usageError(`${labelOf(option)} requires ${needed}`, hint);
      }
  }
  const readers = readersOf(rows, values);
  if (readers.length === 0) return;
  const unnamed = own ?? (stdin.isTTY ? undefined : pipedAs(rows, typed));
  const [first, second] =
    unnamed === undefined ? readers : [{ what: unnamed, label: '' }, ...readers];
  if (first === undefined || second === undefined) return;
  throw usageError(
    first.what === second.what
      ? `${first.what} can be read from standard input only once`
      : `standard input cannot be both ${first.what} and ${second.what}`,
    second.label.startsWith('-')
      ? `use ${second.label} PATH`
      : `give ${second.label} as an argument${unnamed === undefined ? '' : `, or ${unnamed} with --from, --env, --generate or --file`}`,
  );
}

/**
 * Refuses a text argument while standard input has something, which would be a second source of the same content.
 * @returns what to warn of if standard input may have something, and nothing reads it
 * @throws CliError (usage)
 */
export async function checkInput(
  rows: Rows,
  values: object,
  stdin: Context['stdin'],
): Promise<string | undefined> {
  const typed = typedValues(rows, values);
  const [taker, { piped } = {}] = Object.entries(rows).find(([, { piped }]) => piped) ?? [];
  const { row } = typed.find(({ name }) => name === taker || piped?.unless.includes(name)) ?? {};
  if (!piped || !row || pipedAs(rows, typed) || readersOf(rows, values).length > 0)
    return undefined;
  if (!row.argument) {
    const file = stdin.file?.();
    // A file that was read before belongs to a loop around this run.
    const isNew = file?.start === 0 && fstatSync(file.fd).size > 0;
    return isNew ? `standard input is not used: ${piped.what} comes from ${row.label}` : undefined;
  }
  const held = await stdin.look?.();
  if (held === 'something')
    throw usageError(
      `${row.label} cannot be combined with standard input, which is not empty`,
      `for a label use --name; for ${row.label} alone, as in a loop, add </dev/null`,
    );
  return held === 'silent'
    ? `standard input was open, and was not read: ${piped.what} is ${row.label}`
    : undefined;
}

/**
 * Returns the links of a line: a dash is what standard input has, and a missing one what the user types.
 * @throws CliError (usage) for a missing link if the user cannot be asked
 */
export async function linksOf(
  rows: Rows,
  values: object,
  command: Command,
  context: Context,
): Promise<object> {
  const typed = typedValues(rows, values);
  const [name = '', row] = Object.entries(rows).find(([, { link }]) => link) ?? [];
  const links = [typed.find((value) => value.name === name)?.value ?? []].flat();
  const isMissing = links.length === 0 && !typed.some((value) => row?.link?.includes(value.name));
  if (!row || (!isMissing && !links.includes('-'))) return {};
  const { stdin } = context;
  // What is piped in without a dash may be the link, unless the command takes something else.
  const asks = stdin.isTTY || (isMissing && Object.values(rows).some(({ piped }) => piped));
  if (asks ? !context.canPrompt() : isMissing) throw missingArgument('link', command);
  const text = asks ? await askedLink(context) : (await readAll(stdin.bytes())).toString();
  const several = row.argument?.variadic === true;
  const lines = text.trim().split(several && !asks ? /\n\s*/ : /$^/);
  const read = lines.map((line) => line.trimEnd());
  const all = isMissing ? read : links.flatMap((link) => (link === '-' ? read : [link]));
  return { [name]: several ? all : all[0] };
}

async function askedLink({ prompter }: Context): Promise<string> {
  const { secret } = await prompter();
  return filledIn('Link:', (question) => secret(question, 'link'));
}

function typedValues(rows: Rows, values: object): readonly TypedValue[] {
  const all = new Map<string, unknown>(Object.entries(values));
  return Object.entries(rows).flatMap(([name, row]) =>
    all.has(name) && all.get(name) !== row.fallback ? [{ name, row, value: all.get(name) }] : [],
  );
}

/** Returns what piped standard input is if no option has a dash, such as `the secret`. */
function pipedAs(rows: Rows, typed: readonly TypedValue[]): string | undefined {
  const has = (name: string) => typed.some((value) => value.name === name);
  const takers = Object.entries(rows).flatMap(([name, { piped, fallback }]) =>
    piped && has(name) === (fallback === false) && !piped.unless.some(has) ? [piped.what] : [],
  );
  return takers[0];
}

function conflictHint({ row, value }: TypedValue, other: TypedValue): string | undefined {
  if (row.instance === 'needed' && other.row.instance === 'replaced') return 'use only one of them';
  return row.conflicting.find(
    ({ others, when }) => others.includes(other.name) && when(value, other.value),
  )?.hint;
}

export function needsInstance(rows: Rows, values: object): boolean {
  return typedValues(rows, values).some(({ row }) => row.instance === 'needed');
}

/** Returns the options that read standard input, one for each of their values that does. */
export function readersOf(rows: Rows, values: object) {
  return typedValues(rows, values).flatMap(({ row: { input, label }, value }) => {
    if (input === undefined) return [];
    const read = [value].flat().filter(input.is);
    return read.map(() => ({ what: input.what, label }));
  });
}

/** An option with several forms is named as it was typed: `--no-encrypt`, `--encrypt=words`, `--kind url`. */
function labelOf({ row: { options, label }, value }: TypedValue): string {
  const [option, no] = options;
  if (value === false && no) return `${no.long}`;
  if (option?.optional && typeof value === 'string') return `${label}=${value}`;
  return option?.argChoices ? `${label} ${value}` : label;
}

/** Returns an option with its value, such as `--notify EMAIL`. */
function usageOf(row: Rows[string] | undefined): string {
  const [, value] = /<(\w+)/.exec(row?.options[0]?.flags ?? '') ?? [];
  return value === undefined ? `${row?.label}` : `${row?.label} ${value.toUpperCase()}`;
}
