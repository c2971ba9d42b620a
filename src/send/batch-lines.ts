import { isUtf8 } from 'node:buffer';
import { kinds } from '../contract/api';
import { definedFields, isObject, jsonIn } from '../contract/json';
import { DAY_SECONDS, type Expiry, parseExpiry } from '../contract/lifetime';
import { usageError } from '../platform/errors';
import { withoutMark } from '../platform/private-folder';
import type { PushDetails, PushLimits } from './draft';

export interface BatchEntry {
  readonly payload: string;
  readonly passphrase?: string | undefined;
  readonly expiry?: Expiry | undefined;
  readonly limits: PushLimits;
  readonly details: PushDetails;
}

/** The first line decides whether each line is a JSON object. */
export function areObjects(first: Buffer | undefined): boolean {
  return first !== undefined && LIKE_AN_OBJECT.test(first.toString());
}

/** An object that lacks a closing brace matches too, as it must not be pushed as a secret. */
const LIKE_AN_OBJECT = /^\s*\{\s*(?:"|\}\s*$)/;

const AS_PAYLOAD =
  'all lines are secrets, or all are objects; a secret that looks like one goes into {"payload":"…"}';

/** @throws CliError (usage) that quotes nothing of the line, which may be a secret */
export function readEntry(line: Buffer, isObject: boolean): BatchEntry {
  if (!isUtf8(line)) throw usageError('not valid UTF-8 text');
  const text = line.toString();
  if (text === '') throw usageError('empty');
  if (isObject) return readObject(text);
  if (LIKE_AN_OBJECT.test(text))
    throw usageError('looks like a JSON object, and line 1 does not', AS_PAYLOAD);
  return { payload: text, limits: {}, details: {} };
}

type Check = (value: unknown) => boolean;
const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 1;
const isFlag: Check = (value) => typeof value === 'boolean';
const isText: Check = (value) => typeof value === 'string';
const isExpiry: Check = (value) => typeof value === 'string' && parseExpiry(value) !== undefined;
const isFilled: Check = (value) => isText(value) && value !== '';
const KINDS = kinds.filter((kind) => kind !== 'file');

const fields: Readonly<Record<string, readonly [what: string, is: Check]>> = {
  payload: ['a non-empty string', isFilled],
  kind: [`one of ${KINDS.join(', ')}`, (value) => KINDS.some((kind) => kind === value)],
  days: ['a whole number of 1 or more', isCount],
  expire: ['a duration such as 6h, or a time such as 2026-12-01 or 2026-12-01T09:00', isExpiry],
  views: ['a whole number of 1 or more', isCount],
  deletable: ['true or false', isFlag],
  click: ['true or false', isFlag],
  passphrase: ['a non-empty string', isFilled],
  name: ['a string', isText],
  note: ['a string', isText],
};

/** A plain word, and the names that API v2 and our JSON output have for the same. */
const otherNames = new Map([
  ['text', 'payload'],
  ['expire_after_days', 'days'],
  ['expire_after_views', 'views'],
  ['deletable_by_viewer', 'deletable'],
  ['retrieval_step', 'click'],
]);

function readObject(line: string): BatchEntry {
  const value = jsonIn(line);
  if (!isObject(value)) throw usageError('not a JSON object', AS_PAYLOAD);
  const names = new Map<string, string>();
  const entries = Object.entries(value).map(([name, field]) => {
    const option = otherNames.get(name) ?? name;
    checkName(option);
    const [what, is] = fields[option] as (typeof fields)[string];
    if (!is(field)) throw usageError(`"${name}" must be ${what}`);
    refuseBoth(names.get(option), name);
    names.set(option, name);
    return [option, field];
  });
  if (!names.has('payload')) throw usageError('missing "payload" or "text"', AS_PAYLOAD);
  refuseBoth(names.get('days'), names.get('expire'));
  const { payload, passphrase, days, expire, ...rest } = Object.fromEntries(entries);
  return {
    payload,
    passphrase,
    expiry: expire === undefined ? days && { after: days * DAY_SECONDS } : parseExpiry(expire),
    limits: definedFields({
      kind: rest.kind,
      expire_after_views: rest.views,
      deletable_by_viewer: rest.deletable,
      retrieval_step: rest.click,
    }),
    details: definedFields({ name: rest.name, note: rest.note }),
  };
}

function refuseBoth(name: string | undefined, other: string | undefined): void {
  if (name === undefined || other === undefined) return;
  throw usageError(`"${name}" cannot be combined with "${other}"`, 'use only one of them');
}

/** Unknown names are refused: ignoring a misspelt limit would leave a push available for longer than meant. */
function checkName(name: string): void {
  if (Object.hasOwn(fields, name)) return;
  const which = /^[a-z_-]{1,40}$/.test(name) ? ` "${name}"` : '';
  const known = Object.keys(fields).join(', ').replace('payload', 'payload or text');
  throw usageError(`unknown field${which}`, `use ${known}`);
}

export interface BatchLine {
  readonly number: number;
  /** The line without its end; undefined if it is too long. */
  readonly bytes: Buffer | undefined;
}

const LF = 0x0a;
const CR = 0x0d;

/**
 * Yields the lines of a stream without LF or CRLF, and without a byte order mark; the last one need not have a line
 * end. A line of more than `longest` bytes is dropped as it is read.
 * @param place names the stream in messages
 * @throws CliError (usage) as `withoutMark` does, before the first line
 */
export async function* linesOf(
  stream: AsyncIterable<Uint8Array>,
  longest: number,
  place: string,
): AsyncGenerator<BatchLine> {
  let number = 1;
  let pieces: Buffer[] = [];
  let length = 0;
  const add = (piece: Buffer) => {
    length += piece.length;
    if (length <= longest) pieces.push(piece);
    else pieces = [];
  };
  const take = (): BatchLine => {
    const line = Buffer.concat(pieces);
    const whole = line.at(-1) === CR ? line.subarray(0, -1) : line;
    const text = number === 1 ? withoutMark(whole, place) : whole;
    const bytes = length > longest ? undefined : text;
    pieces = [];
    length = 0;
    return { number: number++, bytes };
  };
  for await (const chunk of stream) {
    // The stream may reuse the chunk's memory, so that it is copied.
    let rest = Buffer.from(chunk);
    for (let end = rest.indexOf(LF); end !== -1; end = rest.indexOf(LF)) {
      add(rest.subarray(0, end));
      yield take();
      rest = rest.subarray(end + 1);
    }
    if (rest.length > 0) add(rest);
  }
  if (length > 0) yield take();
}
