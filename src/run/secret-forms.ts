export interface NamedSecret {
  readonly name: string;
  readonly text: string;
}

/** A shorter text would be found in any output, so it is not masked. */
export const SHORTEST = 4;

/** In bytes of all secrets: base64 forms are over 20 times as long, so that base64 is searched for this much only. */
export const MOST_ENCODED = 32 * 1024;

/** In characters of all texts and lines that are searched for, as each takes some 30 bytes of memory. */
const MOST = 2 * 1024 * 1024;

/**
 * Makes the forms of secrets that are searched for in an output, in each spelling: a text and each of its lines, as it
 * is and in base64. A form has one `latin1` character per byte.
 * @returns the forms as `patterns`, and names of secrets: `short` if the text or a line is too short; `long` if only
 * its plain lines are searched for; `beyond` if some or all of it is not searched for
 */
export function formsOf(secrets: readonly NamedSecret[]) {
  const patterns = new Set<string>();
  const short = new Set<string>();
  const long = new Set<string>();
  const beyond = new Set<string>();
  let room = MOST_ENCODED;
  let left = MOST;
  // Short secrets come first, so that a large file does not take the room of a password.
  for (const secret of [...secrets].sort((a, b) => a.text.length - b.text.length)) {
    const { name } = secret;
    // Programs print U+FFFD for a lone surrogate, as this conversion does.
    const text = Buffer.from(secret.text).toString();
    const size = Buffer.byteLength(text);
    const encoded = size <= room;
    if (encoded) room -= size;
    else long.add(name);
    for (const part of partsOf(text, encoded)) {
      const bare = withoutLineEnds(part);
      if (part.length < SHORTEST) short.add(name);
      else if (!encoded && patterns.has(latin1(bare))) continue;
      else if (part.length > left) beyond.add(name);
      else {
        left -= part.length;
        const add = (form: string) => form.length >= SHORTEST && patterns.add(form);
        for (const form of [latin1(bare), narrow(bare), latin1(part), narrow(part)]) add(form);
        for (const bytes of encoded ? new Set([latin1(part), narrow(part)]) : [])
          for (const form of base64Of(Buffer.from(bytes, 'latin1'))) add(form);
      }
    }
  }
  const names = [...new Set(secrets.map(({ name }) => name))];
  const among = (set: ReadonlySet<string>) => names.filter((name) => set.has(name));
  return { patterns, short: among(short), long: among(long), beyond: among(beyond) };
}

/**
 * Yields the lines of a text, also trimmed, and the text itself if `whole`. Blank ones are left out, as they would be
 * found anywhere.
 */
function* partsOf(text: string, whole: boolean): Iterable<string> {
  if (whole && /[^\s\0]/.test(text)) yield text;
  for (const line of text.split(/\r\n|[\n\r\0]/)) {
    const trimmed = line.trim();
    if (trimmed === '') continue;
    yield line;
    if (trimmed !== line && trimmed.length >= SHORTEST) yield trimmed;
  }
}

function withoutLineEnds(text: string): string {
  let end = text.length;
  while (end > 0 && '\n\r\0'.includes(text[end - 1] as string)) end--;
  return text.slice(0, end);
}

/** Returns ASCII as it is: its conversion would leave a garbage Buffer of many times the size. */
const latin1 = (text: string) =>
  /[^\0-\x7f]/.test(text) ? Buffer.from(text).toString('latin1') : text;

/** `ascii` of Python and `escape` of JavaScript write characters up to U+00FF as one byte: `\xfc` and `%FC` for `ü`. */
const narrow = (text: string) => text.replace(/[^\0-\xff]/gu, (character) => latin1(character));

/**
 * Encodes bytes in base64 and base64url, at each of the three offsets that they may have within longer data. Yields the
 * characters that depend on these bytes alone, and the forms at the end of the data, with and without padding.
 */
function* base64Of(bytes: Buffer): Iterable<string> {
  for (const before of [0, 1, 2]) {
    const moved = Buffer.concat([Buffer.alloc(before), bytes]);
    const padded = moved.toString('base64').slice(Math.ceil((before * 8) / 6));
    const ending = padded.replace(/=+$/, '');
    const common = moved.length % 3 === 0 ? ending : ending.slice(0, -1);
    for (const form of [padded, ending, common]) {
      yield form;
      yield form.replaceAll('+', '-').replaceAll('/', '_');
    }
  }
}
