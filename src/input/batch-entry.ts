import { isUtf8 } from 'node:buffer';
import { type Kind, kinds } from '../contract';
import { usageError } from '../errors';

/** A push as one line of `push --each` asks for it, under the names of the options. */
export interface Entry {
  readonly payload: string;
  readonly kind?: Kind;
  readonly days?: number;
  readonly views?: number;
  readonly deletable?: boolean;
  readonly retrievalStep?: boolean;
  readonly passphrase?: string;
  readonly name?: string;
  readonly note?: string;
}

/** How the lines are read: each is a secret, or each a JSON object. */
export type Format = 'text' | 'json';

/** JSON when the first line is an object with a `payload`. */
export function formatOf(first: Buffer | undefined): Format {
  const value = first && parsed(first.toString());
  return value !== undefined && typeof value === 'object' && value !== null && 'payload' in value
    ? 'json'
    : 'text';
}

/** Reads one line. Throws a usage error that quotes nothing of it. */
export function readEntry(line: Buffer, format: Format): Entry {
  if (!isUtf8(line)) throw usageError('it is not valid UTF-8 text');
  const text = line.toString();
  if (text === '') throw usageError('it is empty: there is nothing to push');
  return format === 'text' ? { payload: text } : readObject(text);
}

type Check = (value: unknown) => boolean;
const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 1;
const isFlag: Check = (value) => typeof value === 'boolean';
const isText: Check = (value) => typeof value === 'string';
const isFilled: Check = (value) => isText(value) && value !== '';
const KINDS = kinds.filter((kind) => kind !== 'file');

/** What each field takes, in words, and whether a value is that. */
const fields: Readonly<Record<string, readonly [what: string, is: Check]>> = {
  payload: ['a text that is not empty', isFilled],
  kind: [KINDS.join(', '), (value) => KINDS.some((kind) => kind === value)],
  days: ['a whole number of 1 or more', isCount],
  views: ['a whole number of 1 or more', isCount],
  deletable: ['true or false', isFlag],
  'retrieval-step': ['true or false', isFlag],
  passphrase: ['a text that is not empty', isFilled],
  name: ['a text', isText],
  note: ['a text', isText],
};

function readObject(line: string): Entry {
  const value = parsed(line);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw usageError('it is no JSON object', 'the first line is one, so all have to be');
  const given = Object.entries(value).map(([name, field]) => [optionOf(name), field]);
  for (const [name, field] of given) checkField(name, field);
  if (!('payload' in value)) throw usageError('it has no "payload"');
  const { 'retrieval-step': retrievalStep, ...rest } = Object.fromEntries(given);
  return retrievalStep === undefined ? rest : { ...rest, retrievalStep };
}

/** A limit whose name was misspelt would leave a push longer than meant. */
function optionOf(name: string): string {
  const option = name.replaceAll('_', '-');
  if (Object.hasOwn(fields, option)) return option;
  const which = /^[a-z_-]{1,40}$/.test(name) ? ` "${name}"` : '';
  throw usageError(
    `it has an unknown field${which}`,
    `there are ${Object.keys(fields).join(', ')}`,
  );
}

function checkField(name: string, value: unknown): void {
  const [what, is] = fields[name] as (typeof fields)[string];
  if (!is(value)) throw usageError(`"${name}" takes ${what}`);
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
