// What the rows of a line say of each other, and of standard input, which can be read only once.
import { usageError } from '../platform/errors';
import type { Row, Rows } from './declare';

interface GivenOption {
  readonly name: string;
  readonly row: Row<unknown, string>;
  readonly value: unknown;
}

/**
 * Checks the values of a line, in the order of their rows.
 * @param unnamed what reads standard input although no option says so, such as "the secret"
 * @throws CliError (usage)
 */
export function checkOptions(rows: Rows, values: object, unnamed?: string): void {
  const given = givenOptions(rows, values);
  for (const option of given) {
    const other = given.find((other) => excludes(option, other));
    if (other)
      throw usageError(
        `${labelOf(option)} cannot be combined with ${labelOf(other)}`,
        'use only one of them',
      );
    const unmet = option.row.needed.find(
      ({ others, when }) => when(option.value) && !given.some(({ name }) => others.includes(name)),
    );
    if (unmet) {
      const needed = unmet.others.map((name) => usageOf(rows[name])).join(' or ');
      throw usageError(`${labelOf(option)} requires ${needed}`, unmet.hint);
    }
  }
  const readers = readersOf(rows, values);
  const [first, second] =
    unnamed === undefined ? readers : [{ what: unnamed, option: '' }, ...readers];
  if (first === undefined || second === undefined) return;
  throw usageError(
    first.what === second.what
      ? `${first.what} can be read from standard input only once`
      : `standard input cannot be both ${first.what} and ${second.what}`,
    `use ${second.option} PATH`,
  );
}

function givenOptions(rows: Rows, values: object): readonly GivenOption[] {
  const all = new Map<string, unknown>(Object.entries(values));
  return Object.entries(rows).flatMap(([name, row]) =>
    all.has(name) && all.get(name) !== row.fallback ? [{ name, row, value: all.get(name) }] : [],
  );
}

function excludes({ row, value }: GivenOption, other: GivenOption): boolean {
  if (row.instance === 'needed' && other.row.instance === 'replaced') return true;
  return row.conflicting.some(
    ({ others, when }) => others.includes(other.name) && when(value, other.value),
  );
}

/** Whether an option was given that has a meaning only with an instance. */
export function needsInstance(rows: Rows, values: object): boolean {
  return givenOptions(rows, values).some(({ row }) => row.instance === 'needed');
}

/** What options read from standard input, one for each dash. */
export function readersOf(rows: Rows, values: object) {
  return givenOptions(rows, values).flatMap(({ row: { input, option }, value }) => {
    const dashes = input === undefined ? [] : [value].flat().filter((path) => path === '-');
    return dashes.map(() => ({ what: `${input}`, option: `${option.long}` }));
  });
}

/** The option as it was given, of those that have several forms: `--no-encrypt`, `--encrypt=words`, `--kind url`. */
function labelOf({ row: { option, options }, value }: GivenOption): string {
  if (value === false && options[1]) return `${options[1].long}`;
  if (option.optional && typeof value === 'string') return `${option.long}=${value}`;
  return option.argChoices ? `${option.long} ${value}` : `${option.long}`;
}

/** The option with its value, as in `--notify EMAIL`. */
function usageOf(row: Rows[string] | undefined): string {
  const { long = '', flags = '' } = row?.option ?? {};
  const [, value] = /<(\w+)/.exec(flags) ?? [];
  return value === undefined ? `${long}` : `${long} ${value.toUpperCase()}`;
}
