import { eastAsianWidth } from 'get-east-asian-width';

// biome-ignore lint/suspicious/noControlCharactersInRegex: printable ASCII is the common case
const ascii = /^[\x00-\x7f]*$/;

export function width(text: string): number {
  if (ascii.test(text)) return text.length;
  // A mark over another character, or a variation selector, takes no column. A mark beside a character (Mc) takes one.
  const zero = /[\p{Mn}\p{Me}]/u;
  let columns = 0;
  let last = 0;
  for (const character of text) {
    // U+FE0F makes the character before it an emoji (Unicode TR 51). Terminals that draw it narrow leave a space.
    if (character === '\ufe0f' && last === 1) columns++;
    const own = zero.test(character) ? 0 : eastAsianWidth(character.codePointAt(0) ?? 0);
    columns += own;
    if (own > 0) last = own;
  }
  return columns;
}

/** Cuts between graphemes, with an ellipsis if something was cut. */
export function shorten(text: string, columns: number): string {
  if (width(text) <= columns) return text;
  // The first use of Intl takes 20 ms.
  if (ascii.test(text)) return `${text.slice(0, Math.max(0, columns - 1))}…`;
  let used = 0;
  let kept = '';
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    used += width(segment);
    if (used > columns - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** Breaks at spaces; a longer word, such as a link, stays whole. */
export function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && width(longer) > columns) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}
