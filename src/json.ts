/** Values that an answer may hold; a page of pushes has some thousand. In memory one takes up to 100 bytes. */
const MOST_VALUES = 250_000;

/**
 * The value in an answer's body.
 * @throws SyntaxError for what is no JSON, and for more values than any answer has: 16 MiB of `[],` become a
 * gibibyte
 */
export function parseJson(bytes: Buffer): unknown {
  if (bytes.length > MOST_VALUES && valuesIn(bytes) > MOST_VALUES)
    throw new SyntaxError('too many values');
  // Some servers begin with a byte order mark, which JSON may not have (RFC 8259, 8.1).
  return JSON.parse(bytes.toString('utf8').replace(/^\ufeff/, ''));
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const OBJECT = 0x7b;

/** Commas and opening brackets outside of strings: about as many as there are values. */
export function valuesIn(bytes: Uint8Array): number {
  let values = 0;
  let quoted = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) quoted = !quoted;
    else if (quoted && byte === BACKSLASH) at++;
    else if (!quoted && (byte === COMMA || byte === ARRAY || byte === OBJECT)) values++;
  }
  return values;
}
