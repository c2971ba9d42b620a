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
 * The forms that secrets may take in the output of a command: a text and each of its lines, as it is, in base64, and escaped for
 * URLs, forms and JSON. Bytes are texts of `latin1`.
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
        patterns.add(latin1(part.replace(/[\r\n]+$/, '')));
        if (encoded) for (const form of encodings(part)) patterns.add(form);
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

function* encodings(text: string): Iterable<string> {
  yield* base64Of(Buffer.from(text));
  const escaped = JSON.stringify(text).slice(1, -1);
  yield latin1(escaped);
  // As Go and others do, for HTML.
  yield latin1(escaped.replace(/[&<>]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`));
  for (const unescaped of UNESCAPED) {
    const url = percentEncoded(text, unescaped);
    for (const one of [url, url.replaceAll('%20', '+')]) {
      yield one;
      yield one.replace(/%../g, (code) => code.toLowerCase());
    }
  }
}

/**
 * What percent-encodings leave as it is besides letters and digits: that of JavaScript, those of RFC 3986, without and with
 * slashes, that of forms, that of PHP, and whole URLs in JavaScript.
 */
const UNESCAPED = ["-_.!~*'()", '-_.~', '-_.~/', '-_.*', '-_.', "-_.!~*'();/?:@&=+$,#"];

function percentEncoded(text: string, unescaped: string): string {
  return latin1(text).replace(/[^A-Za-z0-9]/g, (sign) =>
    unescaped.includes(sign)
      ? sign
      : `%${sign.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}

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
