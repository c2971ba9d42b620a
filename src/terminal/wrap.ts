import { width } from './text-width';

/**
 * A text as lines of so many columns at most, broken at spaces; a longer word, such as a link, stays whole.
 * @param rest columns of the lines after the first
 */
export function wrap(text: string, columns: number, rest = columns): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && width(longer) > (lines.length === 0 ? columns : rest)) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}
