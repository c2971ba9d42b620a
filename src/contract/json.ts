/** A page of pushes has some thousand values. A value takes up to 100 bytes of memory. */
const MAX_VALUES = 250_000;

/**
 * Parses UTF-8 (RFC 8259, 8.1); Buffer's own decoder would change invalid bytes without a word.
 * @throws SyntaxError for invalid JSON and for too many values: 16 MiB of `[],` would take 1 GiB; TypeError for bytes
 * that are not UTF-8
 */
export function parseJson(bytes: Buffer): unknown {
  if (bytes.length > MAX_VALUES && valuesIn(bytes) > MAX_VALUES)
    throw new SyntaxError('too many values');
  // TextDecoder drops a byte order mark, which some servers send although JSON must not have one.
  return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
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

/** Measures JSON before it is parsed, also in pieces as they arrive. */
export class JsonSize {
  /** Counts commas and opening brackets outside of strings, which are about as many as values. */
  values = 0;
  /** Counts bytes of strings; an escape counts as one. */
  text = 0;
  private quoted = false;
  /** Bytes of an escape that are still to come. */
  private rest = 0;

  add(bytes: Uint8Array): void {
    // Counting in the properties would take twice as long.
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

/** Leaves out fields that are undefined: the instance has defaults for them. */
export function definedFields<Fields extends object>(fields: Fields) {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as {
    [Name in keyof Fields]?: Exclude<Fields[Name], undefined>;
  };
}
