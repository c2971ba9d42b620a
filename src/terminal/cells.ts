/** What takes no column of its own: combining marks, and what `safe` leaves of format characters. */
const zero = /\p{M}/u;
/** What takes two columns: East Asian wide and fullwidth forms (Unicode TR 11), and emoji. */
const wide =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]/u;

/** Columns that a text without control characters takes on a terminal. */
export function width(text: string): number {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: printable ASCII is the common case
  if (/^[\x00-\x7f]*$/.test(text)) return text.length;
  let columns = 0;
  for (const character of text) columns += widthOf(character);
  return columns;
}

/** The text cut to so many columns, with an ellipsis where something was cut. */
export function shorten(text: string, columns: number): string {
  if (width(text) <= columns) return text;
  let used = 0;
  let kept = '';
  for (const character of text) {
    used += widthOf(character);
    if (used > columns - 1) break;
    kept += character;
  }
  return `${kept}…`;
}

function widthOf(character: string): number {
  if (zero.test(character)) return 0;
  return wide.test(character) ? 2 : 1;
}
