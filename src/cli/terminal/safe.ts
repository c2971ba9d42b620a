import type { Environment } from '../../platform/context';
import { isCi } from '../../platform/surroundings';

/**
 * Characters that a terminal acts on or that deceive a reader: C0 and C1 controls, DEL, bidi controls, line separators,
 * lone surrogates, and invisible ones (Default_Ignorable_Code_Point: zero-width characters, fillers, tags), except
 * variation selectors (Unicode TR 36; ECMA-48).
 */
const dangerous = () =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
  /[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufff9-\ufffb]|(?![\ufe00-\ufe0f\u{e0100}-\u{e01ef}])\p{Default_Ignorable_Code_Point}|\p{Surrogate}/gu;

/** Most texts have no dangerous characters, and making the expression takes a millisecond. */
function disarmed(text: string, by: (character: string) => string): string {
  return /^[ -~]*$/.test(text) ? text : text.replace(dangerous(), by);
}

export function withoutControls(text: string): string {
  return disarmed(text, () => '');
}

/** Makes control characters visible in text from a server, or a file name, for one line of a terminal. */
export function safe(text: string): string {
  return disarmed(text, visible);
}

/** Keeps newlines and tabs, and makes other control characters visible. */
export function safeLines(text: string): string {
  return text
    .split(/(\r?\n|\t)/)
    .map((part, index) => (index % 2 === 1 ? part : safe(part)))
    .join('');
}

export function forTerminal(text: string): string {
  return safeLines(text) + (text.endsWith('\n') ? '' : '\n');
}

/** GitHub Actions, Azure Pipelines and TeamCity read commands in the log of a job: `::name::` in front, `##[name]`. */
const lineCommand = /^([^\S\n]*):(?=:.*?::)/gm;
const command = /#(?=#(?:\[|vso\[|teamcity\[))/gi;

/** Makes commands to a CI runner harmless in the log of a job. */
export function forLog(lines: string, env: Environment): string {
  if (!isCi(env)) return lines;
  const harmless = lines.replace(lineCommand, (_, space: string) => space + visible(':'));
  return harmless.replace(command, visible);
}

/** Escapes everything that a terminal or a CI runner would act on as `\\uXXXX`. */
export function safeJson(json: string): string {
  const escaped = (character: string) =>
    Array.from(
      { length: character.length },
      (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
    ).join('');
  return disarmed(json, escaped).replace(command, escaped);
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
