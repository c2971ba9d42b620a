// Programs print a secret in many ways: each character may stand as it is, or as an escape of a language, a shell, a
// URL or HTML. A spelling decodes the escapes; the mask searches the decoded bytes for secrets.

/** `means` has the character in UTF-8, or the byte that the escape names. */
export interface Escape {
  readonly length: number;
  readonly means: readonly number[];
}

/** A byte that is undefined has not arrived yet. */
type Bytes = ArrayLike<number | undefined>;

export interface Spelling {
  /** The ASCII characters with which escapes begin. */
  readonly begins: string;
  /**
   * Returns the escape at `offset`; undefined without one, `'open'` if that depends on bytes that have not arrived.
   */
  readonly read: (bytes: Bytes, offset: number) => Escape | 'open' | undefined;
  /** True if each escape means the byte with which it begins. */
  readonly itself?: boolean;
}

/** Returns an array with 1 at each byte that begins an escape. */
export function signsOf(...spellings: readonly Pick<Spelling, 'begins'>[]): Uint8Array {
  const signs = new Uint8Array(256);
  for (const { begins } of spellings) for (const byte of Buffer.from(begins)) signs[byte] = 1;
  return signs;
}

const [BACKSLASH, PLUS, SEMICOLON] = [0x5c, 0x2b, 0x3b];
const [QUOTE, DOUBLE, BRACE, END_BRACE, SPACE] = [0x27, 0x22, 0x7b, 0x7d, 0x20];

/** Longest escape in bytes. It bounds the output that is held back until an escape is complete. */
const LONGEST = 64;
/** In bytes, for `twice`: each byte of an escape may be escaped itself. */
const LONGEST_TWICE = 8 * LONGEST;

const DIGITS = Uint8Array.from({ length: 256 }, (_, byte) => {
  const value = Number.parseInt(String.fromCharCode(byte), 36);
  return Number.isNaN(value) ? 36 : value;
});

/** Reads up to `most` digits; `open` is true if more may arrive. */
function digits(bytes: Bytes, offset: number, base: number, most: number) {
  let value = 0;
  for (let count = 0; ; count++) {
    const byte = count < most ? bytes[offset + count] : SPACE;
    const digit = byte === undefined ? 36 : (DIGITS[byte] as number);
    if (digit >= base) return { value, count, open: byte === undefined };
    value = value * base + digit;
  }
}

/** Escapes that mean one byte, by length and byte, are made once, as an output may have one at each position. */
const SINGLE = Array.from({ length: 5 }, (_, length) =>
  Array.from({ length: 256 }, (_, byte): Escape => ({ length, means: [byte] })),
);

const meaning = (length: number, byte: number): Escape =>
  SINGLE[length]?.[byte] ?? { length, means: [byte] };

/** Returns U+FFFD for a lone surrogate; undefined if the number is no code point. */
function character(length: number, code: number): Escape | undefined {
  if (code < 0x80) return meaning(length, code);
  return code > 0x10ffff
    ? undefined
    : { length, means: [...Buffer.from(String.fromCodePoint(code))] };
}

const [BYTE, UNIT, POINT] = [0x78, 0x75, 0x55];

/** Reads percent-encoding (RFC 3986, section 2.1), and `%uXXXX` of JavaScript (ECMA-262, annex B.2.1). */
const percent: Spelling['read'] = (bytes, offset) => {
  if (bytes[offset + 1] === UNIT) return codeUnit(bytes, offset);
  const { value, count, open } = digits(bytes, offset + 1, 16, 2);
  if (open) return 'open';
  return count === 2 ? meaning(3, value) : undefined;
};

/** Letters after a backslash in JSON, C, Python, and bash between `$'` and `'`, and the bytes that they mean. */
const LETTERS = new Map(
  Object.entries({ a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, e: 27, E: 27 }).map(
    ([letter, code]) => [letter.charCodeAt(0), code],
  ),
);

const backslash: Spelling['read'] = (bytes, offset) => {
  const letter = bytes[offset + 1];
  if (letter === undefined) return 'open';
  const isBraced = (letter === UNIT || letter === BYTE) && bytes[offset + 2] === BRACE;
  if (isBraced) return braced(bytes, offset) ?? meaning(2, letter);
  if (letter === UNIT) return codeUnit(bytes, offset) ?? meaning(2, letter);
  if (letter === BYTE || letter === POINT) {
    const wanted = letter === BYTE ? 2 : 8;
    const { value, count, open } = digits(bytes, offset + 2, 16, wanted);
    if (open) return 'open';
    if (count < wanted) return meaning(2, letter);
    return letter === BYTE ? meaning(4, value) : character(10, value);
  }
  const octal = digits(bytes, offset + 1, 8, 3);
  if (octal.count > 0) return octal.open ? 'open' : meaning(1 + octal.count, octal.value & 0xff);
  return meaning(2, LETTERS.get(letter) ?? letter);
};

/** Reads `\u{X…}` of JavaScript, Rust and Swift, and `\x{X…}` of Perl. */
function braced(bytes: Bytes, offset: number): Escape | 'open' | undefined {
  const { value, count } = digits(bytes, offset + 3, 16, 6);
  const end = bytes[offset + 3 + count];
  if (end === undefined) return 'open';
  return end === END_BRACE ? character(4 + count, value) : undefined;
}

/** Reads `\uXXXX` or `%uXXXX`, and two of them for a character beyond U+FFFF (RFC 8259, section 7). */
function codeUnit(bytes: Bytes, offset: number): Escape | 'open' | undefined {
  const { value, count, open } = digits(bytes, offset + 2, 16, 4);
  if (open) return 'open';
  if (count < 4) return undefined;
  if (value >> 10 !== 0xd800 >> 10) return character(6, value);
  for (const [index, sign] of [bytes[offset], UNIT].entries()) {
    const next = bytes[offset + 6 + index];
    if (next === undefined) return 'open';
    if (next !== sign) return character(6, value);
  }
  const low = digits(bytes, offset + 8, 16, 4);
  if (low.open) return 'open';
  if (low.count < 4 || low.value >> 10 !== 0xdc00 >> 10) return character(6, value);
  return character(12, 0x10000 + ((value & 0x3ff) << 10) + (low.value & 0x3ff));
}

/** Bash writes a backslash before a character in `printf %q`, and before each one in its trace of `[[ … == … ]]`. */
const shellBackslash: Spelling['read'] = (bytes, offset) => {
  const byte = bytes[offset + 1];
  return byte === undefined ? 'open' : meaning(2, byte);
};

/** Reads quotes within the single quotes of a shell: bash writes `'\''`, others `'"'"'`, for several quotes at once. */
const shellQuotes: Spelling['read'] = (bytes, offset) => {
  const next = bytes[offset + 1];
  if (next === BACKSLASH) {
    const quoted = bytes[offset + 2];
    const end = bytes[offset + 3];
    if (quoted === undefined || end === undefined) return 'open';
    return end === QUOTE ? meaning(4, quoted) : undefined;
  }
  if (next !== DOUBLE) return next === undefined ? 'open' : undefined;
  let count = 0;
  while (count < LONGEST - 4 && bytes[offset + 2 + count] === QUOTE) count++;
  const end = bytes[offset + 2 + count];
  const after = bytes[offset + 3 + count];
  if (end === undefined) return 'open';
  if (count === 0 || end !== DOUBLE) return undefined;
  if (after === undefined) return 'open';
  const means = Array<number>(count).fill(QUOTE);
  return { length: count + (after === QUOTE ? 4 : 3), means };
};

/** Names of the characters U+00A0 to U+00FF, in order (HTML 4.01, section 24.2). */
const LATIN1 =
  `nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro
  para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute
  Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute
  THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde
  ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml`.split(
    /\s+/,
  );

const OTHERS = `&amp <lt >gt "quot 'apos €euro …hellip –ndash —mdash •bull ™trade ‘lsquo ’rsquo “ldquo ”rdquo`;

const NAMES = new Map([
  ...LATIN1.map((name, index) => [name, 0xa0 + index] as const),
  ...OTHERS.split(' ').map((row) => [row.slice(1), row.charCodeAt(0)] as const),
]);
const NUMBER_SIGN = 0x23;
const LONGEST_NAME = 12;

/** Reads character references of HTML, by number and by the names of Latin letters and usual signs. */
const reference: Spelling['read'] = (bytes, offset) => {
  let name = '';
  for (let end = offset + 1; ; end++) {
    const byte = bytes[end];
    if (byte === undefined) return 'open';
    if (byte === SEMICOLON) break;
    if (name.length === LONGEST_NAME || (byte !== NUMBER_SIGN && (DIGITS[byte] as number) === 36))
      return undefined;
    name += String.fromCharCode(byte);
  }
  const [, hex, decimal] = /^#(?:x([0-9a-f]+)|([0-9]+))$/i.exec(name) ?? [];
  const code = NAMES.get(name) ?? (hex === undefined ? Number(decimal) : Number.parseInt(hex, 16));
  return code >= 0 ? character(name.length + 2, code) : undefined;
};

const repeated = (begins: string, times: number): Spelling => ({
  begins,
  itself: true,
  read: (bytes, offset) => {
    const sign = bytes[offset] as number;
    for (let next = offset + 1; next < offset + times; next++) {
      if (bytes[next] === undefined) return 'open';
      if (bytes[next] !== sign) return undefined;
    }
    return meaning(times, sign);
  },
});

/** Returns a spelling that decodes twice: an encoder may be applied to its own output. */
function twice({ begins, read }: Spelling): Spelling {
  const signs = signsOf({ begins });
  const readIn = (bytes: Bytes, offset: number): Escape | 'open' => {
    const byte = bytes[offset];
    if (byte === undefined) return 'open';
    return (signs[byte] === 1 ? read(bytes, offset) : undefined) ?? meaning(1, byte);
  };
  // The arrays are made once, as an output may have an escape at each position.
  const meant: (number | undefined)[] = Array(LONGEST_TWICE + LONGEST).fill(0);
  /** `ends[i]` is where the escape ends whose last meant byte is `meant[i]`; 0 for its other bytes. */
  const ends: number[] = Array(meant.length).fill(0);
  const means: number[] = Array(meant.length).fill(0);
  return {
    begins,
    read: (bytes, offset) => {
      const first = read(bytes, offset);
      if (first === 'open' || first === undefined || signs[first.means[0] ?? 0] === 0) return first;
      let unit = first;
      let end = offset;
      let count = 0;
      let unread = 0;
      let total = 0;
      while (end - offset < LONGEST_TWICE) {
        for (const byte of unit.means) {
          ends[count] = 0;
          meant[count++] = byte;
        }
        meant[count] = undefined;
        end += unit.length;
        ends[count - 1] = end;
        while (unread < count) {
          const inner = readIn(meant, unread);
          if (inner === 'open') break;
          for (const byte of inner.means) means[total++] = byte;
          unread += inner.length;
          const length = (ends[unread - 1] as number) - offset;
          if (length > 0 && total === 1) return meaning(length, means[0] as number);
          if (length > 0) return { length, means: means.slice(0, total) };
        }
        const next = readIn(bytes, end);
        if (next === 'open') return 'open';
        unit = next;
      }
      return first;
    },
  };
}

/** Skips the NUL beside each ASCII character in UTF-16. Several NULs together are not skipped. */
const skippedNul: Spelling['read'] = (bytes, offset) => {
  const next = bytes[offset + 1];
  if (next === undefined) return 'open';
  return next === 0 ? undefined : { length: 1, means: [] };
};

const escaped: readonly Spelling[] = [
  { begins: '\\', read: backslash },
  { begins: '\\', read: shellBackslash },
  { begins: "'", read: shellQuotes },
  { begins: '%', read: percent },
  {
    begins: '%+',
    read: (bytes, offset) => (bytes[offset] === PLUS ? meaning(1, SPACE) : percent(bytes, offset)),
  },
  { begins: '&', read: reference },
];

/** SQL and YAML, CSV, compose files, printf, and units of systemd double these signs. */
const doubled = ["'", '"', '$', '%', '$%'];

/** Spellings are not combined: an encoder writes a text in one of them, perhaps twice. */
export const spellings: readonly Spelling[] = [
  ...escaped.flatMap((spelling) => [spelling, twice(spelling)]),
  { begins: '\0', read: skippedNul },
  ...doubled.flatMap((signs) => [repeated(signs, 2), repeated(signs, 4)]),
];
