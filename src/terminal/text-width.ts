/** What takes no column of its own: marks over others, and selectors. Those beside others (Mc) take one. */
const zero = /[\p{Mn}\p{Me}]/u;
/** What takes two columns: East Asian wide and fullwidth forms (Unicode TR 11), and emoji, of which flags have two halves. */
const wide =
  /(?!\p{Regional_Indicator})\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]/u;

// biome-ignore lint/suspicious/noControlCharactersInRegex: printable ASCII is the common case
const ascii = /^[\x00-\x7f]*$/;

/** Columns that a text without control characters takes on a terminal. */
export function width(text: string): number {
  if (ascii.test(text)) return text.length;
  let columns = 0;
  let last = 0;
  for (const character of text) {
    // What stands before becomes an emoji (Unicode TR 51). Terminals that draw it narrow leave a space.
    if (character === '\ufe0f' && last === 1) columns++;
    const own = widthOf(character);
    columns += own;
    if (own > 0) last = own;
  }
  return columns;
}

/** The text cut to so many columns, between what is read as one character, with an ellipsis where something was cut. */
export function shorten(text: string, columns: number): string {
  if (width(text) <= columns) return text;
  // The first look for characters takes 20 ms, in which all of Intl is loaded.
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

/** A text as lines of at most `columns`, broken at spaces; a longer word, such as a link, stays whole. */
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

function widthOf(character: string): number {
  if (zero.test(character)) return 0;
  return wide.test(character) ? 2 : 1;
}
