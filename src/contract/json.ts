/** Limit for a response; a page of pushes has some thousand values. One takes up to 100 bytes of memory. */
const MAX_VALUES = 250_000;

/**
 * Parses the body of a response, UTF-8 (RFC 8259, 8.1): what is not would be changed without a word.
 * @throws SyntaxError for invalid JSON and for too many values: 16 MiB of `[],` would take 1 GiB; TypeError for bytes that
 *   are not UTF-8
 */
export function parseJson(bytes: Buffer): unknown {
  if (bytes.length > MAX_VALUES && valuesIn(bytes) > MAX_VALUES)
    throw new SyntaxError('too many values');
  // Leaves out a byte order mark, which some servers send although JSON must not have one.
  return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const OBJECT = 0x7b;

/** Counts commas and opening brackets outside of strings, about the number of values. */
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

/** The fields that were asked for; the instance has defaults for the rest. */
export function askedFor<Fields extends object>(fields: Fields) {
  const asked = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(asked) as {
    [Name in keyof Fields]?: Exclude<Fields[Name], undefined>;
  };
}
