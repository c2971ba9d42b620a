import type { Environment } from '../context';
import { isCi } from '../options';

/**
 * What a terminal would act on or what would deceive its reader: C0 and C1 controls, DEL, bidi controls, line
 * separators, lone surrogates, and all that is not seen (Default_Ignorable_Code_Point: zero-width characters, fillers,
 * tags), but for the selectors of a variant of what stands before them (Unicode TR 36; ECMA-48).
 */
const dangerous =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
  /[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufff9-\ufffb]|(?![\ufe00-\ufe0f\u{e0100}-\u{e01ef}])\p{Default_Ignorable_Code_Point}|\p{Surrogate}/gu;

/** The same text without any of that. */
export function withoutControls(text: string): string {
  return text.replace(dangerous, '');
}

/** Text of a server or a file name for one line of a terminal: every control character made visible. */
export function safe(text: string): string {
  return text.replace(dangerous, visible);
}

/** The same for text of several lines: line ends and tabs stay. */
export function safeLines(text: string): string {
  return text
    .split(/(\r?\n|\t)/)
    .map((part, at) => (at % 2 === 1 ? part : safe(part)))
    .join('');
}

/** A text as a terminal is given it: harmless, and with a final line end. */
export function forTerminal(text: string): string {
  return safeLines(text) + (text.endsWith('\n') ? '' : '\n');
}

/**
 * Commands in the log of a CI job: of GitHub Actions and of what is like it (`::name::`, at the start of a line, and
 * `##[name]`), of Azure Pipelines, and of TeamCity.
 */
const lineCommand = /^([^\S\n]*):(?=:.*?::)/gm;
const command = /#(?=#(?:\[|vso\[|teamcity\[))/gi;

/** Whole lines for people: in a CI job without what its runner would obey. */
export function forLog(lines: string, env: Environment): string {
  if (!isCi(env)) return lines;
  const told = lines.replace(lineCommand, (_, space: string) => space + visible(':'));
  return told.replace(command, visible);
}

/** JSON that shows nothing a terminal or a CI runner would act on: the same value, those characters as `\\uXXXX`. */
export function safeJson(json: string): string {
  const escaped = (character: string) =>
    Array.from(
      { length: character.length },
      (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join('');
  return json.replace(dangerous, escaped).replace(command, escaped);
}

function visible(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (character === '\n') return '\\n';
  if (character === '\t') return '\\t';
  if (character === '\r') return '\\r';
  const hex = code.toString(16);
  if (code < 0x100) return `\\x${hex.padStart(2, '0')}`;
  return code < 0x10000 ? `\\u${hex.padStart(4, '0')}` : `\\u{${hex}}`;
}
