import { width } from './text-width';
import { wrap } from './wrap';

/** What somebody copies: commands, options with their value, and paths, as far as a text shows where they end. */
const whole = [
  // Behind a colon a command goes on to the next comma.
  /(?<=: )(?:[^,;:]+\| )?pwpush [^,;]+/g,
  /(?:\b\w+=\S+ )?\bpwpush [a-z]+(?: set \S+ \S+| (?:show|use|remove|list|add|revoke|token|rekey|backup)\b)*(?: (?:-\S*|[A-Z]{2,}\S*|\S*[/:]\S+))*/g,
  /--[a-z][\w-]* [^\s,;]+/g,
  // A name may have spaces: it goes on where another separator or a suffix follows.
  /(?<=^|\s)(?:~|\.\.?|[A-Z]:)?[/\\]\S*(?:(?: [^\s/\\,;]+){0,3} [^\s/\\]*[/\\]\S*)*(?: [^\s/\\,;:]+\.\w{1,5}\b)?/g,
];
/** Stands for a space that is not broken at; what is said has no control characters. */
const KEPT = '\0';
const INDENT = '  ';
/** What is longer is no sentence of ours, and takes its time. */
const LONGEST = 4000;

/**
 * A line for a terminal of so many columns, broken between words, with what follows indented; without columns as it
 * is. What somebody may want to copy stays in one piece, for the terminal to break.
 */
export function fold(text: string, columns: number | undefined): string {
  if (columns === undefined || text.length > LONGEST || width(text) <= columns) return text;
  const kept = whole.reduce(
    (all, part) => all.replace(part, (found) => found.replaceAll(' ', KEPT)),
    text,
  );
  const lines = wrap(kept, columns, columns - INDENT.length);
  return lines.join(`\n${INDENT}`).replaceAll(KEPT, ' ');
}
