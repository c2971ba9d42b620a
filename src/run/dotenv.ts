import { VARIABLE_NAME } from '../cli/values';

// The package dotenv and util.parseEnv are not used: they cut `pa#ss` to `pa`, take base64 and prose for assignments,
// and do not know `\"`.

interface WrongLine {
  readonly wrongLine: number;
}

/** With `tooLong`, the variables take more bytes than any system accepts. */
type Dotenv =
  | { readonly variables: ReadonlyMap<string, string> }
  | WrongLine
  | { readonly tooLong: true };

/** In bytes: Linux limits variables and arguments together to 6 MiB, other systems to less (execve(2)). */
const MOST = 6 * 1024 * 1024;
/** In bytes: a variable takes a pointer, an equals sign and NUL besides its name and value. */
const EACH = 10;

const assignment = new RegExp(`[ \\t]*(?:export[ \\t]+)?(${VARIABLE_NAME})[ \\t]*=`, 'y');
const blank = /[ \t]*(?:#[^\n]*)?(?:\n|$)/y;
const spaces = /[ \t]*/y;
const restOfLine = /[^\n]*/y;

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

/**
 * Reads a text of `NAME=value` lines and nothing else. Lines may have `export` and comments. Values in single quotes or
 * backticks (verbatim) or double quotes (with backslash escapes) may go over several lines. No variable is expanded.
 * The last of equal names wins. A text in which all values are empty is refused, and so is `c2VjcmV0==`: a password or
 * base64 must not become a variable by accident.
 * @param only the names that are wanted; all names if the list is empty
 */
export function parseDotenv(dotenv: string, only: readonly string[] = []): Dotenv {
  const variables = new Map<string, string>();
  let any = false;
  let size = 0;
  for (const line of assignments(dotenv)) {
    if ('wrongLine' in line) return line;
    const { name, text } = line;
    any ||= text !== '';
    if (only.length > 0 && !only.includes(name)) continue;
    size += name.length + text.length + EACH;
    if (size > MOST) return { tooLong: true };
    variables.set(name, text);
  }
  return any ? { variables } : { wrongLine: 1 };
}

/** Yields assignments, and ends with `wrongLine` at the first line of another form. */
export function* assignments(
  dotenv: string,
): Iterable<({ readonly name: string } & Value) | WrongLine> {
  const text = dotenv.replace(/^\ufeff/, '').replaceAll('\r\n', '\n');
  for (let offset = 0; offset < text.length; ) {
    const afterBlank = match(blank, text, offset);
    if (afterBlank) {
      offset += afterBlank[0].length;
      continue;
    }
    const [start = '', name] = match(assignment, text, offset) ?? [];
    const value = name && valueAt(text, offset + start.length);
    if (!value) {
      yield { wrongLine: text.slice(0, offset).split('\n').length };
      return;
    }
    yield { name, ...value };
    offset = value.end;
  }
}

interface Value {
  readonly text: string;
  /** The value as the line has it, before unescaping: without its quotes, and with them and the comment after them. */
  readonly written: readonly string[];
  readonly end: number;
}

function valueAt(text: string, from: number): Value | undefined {
  const start = from + (match(spaces, text, from)?.[0].length ?? 0);
  const quote = text[start] ?? '';
  const value = ['"', "'", '`'].includes(quote)
    ? quoted(text, start + 1, quote)
    : unquoted(text, from);
  return value?.text.includes('\0') ? undefined : value;
}

/** Returns undefined if anything but a comment follows the closing quote. */
function quoted(text: string, from: number, quote: string): Value | undefined {
  const close = quote === '"' ? endOfDouble(text, from) : text.indexOf(quote, from);
  const rest = close === -1 ? undefined : match(blank, text, close + 1);
  if (!rest) return undefined;
  const inner = text.slice(from, close);
  const end = close + 1 + rest[0].length;
  return {
    text: quote === '"' ? unescaped(inner) : inner,
    written: [inner, text.slice(from - 1, end).trim()],
    end,
  };
}

function endOfDouble(text: string, from: number): number {
  for (let offset = from; offset < text.length; offset++) {
    if (text[offset] === '\\') offset++;
    else if (text[offset] === '"') return offset;
  }
  return -1;
}

function unescaped(text: string): string {
  // A backslash before any other character is literal, as in `"C:\dir"`.
  return text.replace(/\\(["\\$`nrt])/g, (_, character: string) => escapes[character] ?? character);
}

/**
 * A value without quotes is the rest of the line, up to a comment, which begins after white space: `pa#ss` is a value.
 */
function unquoted(text: string, from: number): Value | undefined {
  const line = match(restOfLine, text, from)?.[0] ?? '';
  const value = line.replace(/[ \t]#.*/s, '').trim();
  if (value.startsWith('=')) return undefined;
  return { text: value, written: [line.trim()], end: from + line.length + 1 };
}

function match(pattern: RegExp, text: string, offset: number): RegExpExecArray | null {
  pattern.lastIndex = offset;
  return pattern.exec(text);
}
