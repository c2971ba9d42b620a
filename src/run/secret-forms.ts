/** A secret that a command gets, and how messages name it. */
export interface NamedSecret {
  readonly name: string;
  readonly text: string;
}

/** A shorter text is found in any output. */
export const SHORTEST = 4;

/** Bytes of secrets, in all, whose other forms are searched for; these may be over 100 times as long. */
export const MOST_ENCODED = 32 * 1024;

/**
 * What is searched for in the output of a command, in each spelling: a text and each of its lines, as it is and in base64. Bytes
 * are texts of `latin1`.
 * @returns also the names of secrets that are too `short`, or have such a line, and of those that are too `long` for anything
 * but their lines as they are
 */
export function formsOf(secrets: readonly NamedSecret[]) {
  const patterns = new Set<string>();
  const short = new Set<string>();
  const long = new Set<string>();
  let room = MOST_ENCODED;
  for (const { name, text: given } of secrets) {
    // As it is written: without lone surrogates.
    const text = Buffer.from(given).toString();
    const size = Buffer.byteLength(text);
    const encoded = size <= room;
    if (encoded) room -= size;
    else long.add(name);
    for (const part of partsOf(text, encoded)) {
      if (part.length < SHORTEST) short.add(name);
      else {
        for (const one of [part, part.replace(/[\r\n]+$/, '')])
          patterns.add(latin1(one)).add(narrow(one));
        if (encoded) for (const form of base64Of(Buffer.from(part))) patterns.add(form);
      }
    }
  }
  const found = [...patterns].filter((form) => form.length >= SHORTEST);
  return { patterns: new Set(found), short: [...short], long: [...long] };
}

/** The lines, also without the white space around them; the whole too if that is wanted. Blank ones would be found anywhere. */
function partsOf(text: string, whole: boolean): ReadonlySet<string> {
  const lines = text.split(/\r?\n/);
  const trimmed = lines.map((line) => line.trim()).filter((line) => line.length >= SHORTEST);
  const all = [...(whole ? [text] : []), ...lines, ...trimmed];
  return new Set(all.filter((part) => part.trim() !== ''));
}

const latin1 = (text: string) => Buffer.from(text).toString('latin1');

/** Characters up to U+00FF as one byte: `ascii` of Python and `escape` of JavaScript write `\xfc` and `%FC` for `ü`. */
const narrow = (text: string) => text.replace(/[^\0-\xff]/gu, (character) => latin1(character));

/**
 * Bytes in base64 and base64url: alone, and within more bytes, where what comes before them moves them by up to two bytes. What
 * only they decide is then the same, except at the end of a text.
 */
function* base64Of(bytes: Buffer): Iterable<string> {
  for (const before of [0, 1, 2]) {
    const moved = Buffer.concat([Buffer.alloc(before), bytes]);
    const padded = moved.toString('base64').slice(Math.ceil((before * 8) / 6));
    const ending = padded.replace(/=+$/, '');
    const common = moved.length % 3 === 0 ? ending : ending.slice(0, -1);
    for (const one of [padded, ending, common]) {
      yield one;
      yield one.replaceAll('+', '-').replaceAll('/', '_');
    }
  }
}
