import { isUtf8 } from 'node:buffer';
import { orUndefined } from './or-undefined';

/** Far more than the few thousand values of a page of pushes. Each value takes up to 100 bytes of memory. */
const MAX_VALUES = 250_000;

/**
 * Parses JSON in UTF-8 (RFC 8259, 8.1). `Buffer.toString` would replace invalid bytes without an error.
 * @throws TypeError for other bytes; SyntaxError for other texts, and too many values, as 16 MiB of `[],` take 1 GiB
 */
export function parseJson(bytes: Buffer): unknown {
  if (bytes.length > MAX_VALUES && valuesIn(bytes) > MAX_VALUES)
    throw new SyntaxError('too many values');
  if (!isUtf8(bytes)) throw new TypeError('not UTF-8');
  // Some servers send a byte order mark, although JSON must not have one.
  return JSON.parse(bytes.toString().replace(/^\ufeff/, ''));
}

/** Parses a text; undefined if it is not JSON. */
export function jsonIn(text: string): unknown {
  return orUndefined(() => JSON.parse(text));
}

/** Whether a value of JSON is an object. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;
const OBJECT = 0x7b;

export function valuesIn(bytes: Uint8Array): number {
  const size = new JsonSize();
  size.add(bytes);
  return size.values;
}

/** Measures JSON before it is parsed. `add` accepts it in chunks. */
export class JsonSize {
  /** Estimates the number of values by the commas and opening brackets outside of strings. */
  values = 0;
  /** Bytes of all strings. An escape sequence counts as one byte. */
  text = 0;
  private quoted = false;
  /** Number of bytes that the current escape sequence still has. */
  private rest = 0;

  add(bytes: Uint8Array): void {
    // Local variables, as counting in properties takes twice as long.
    let { values, text, quoted, rest } = this;
    for (let index = 0; index < bytes.length; index++) {
      const byte = bytes[index];
      if (rest > 0) rest = rest === 1 && byte === LETTER_U ? 4 : rest - 1;
      else if (byte === QUOTE) quoted = !quoted;
      else if (!quoted) {
        if (byte === COMMA || byte === ARRAY || byte === OBJECT) values++;
      } else {
        text++;
        if (byte === BACKSLASH) rest = 1;
      }
    }
    Object.assign(this, { values, text, quoted, rest });
  }
}

/** Removes undefined fields, for which the instance uses its defaults. */
export function definedFields<Fields extends object>(fields: Fields) {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as {
    [Name in keyof Fields]?: Exclude<Fields[Name], undefined>;
  };
}
