import { usageError } from '../platform/errors';

/** Parses one of `words`. Commander can check this too, but suggests no similar word. */
export const oneOf =
  <T extends string>(words: readonly T[]) =>
  (word: string, name: string): T => {
    const match = words.find((candidate) => candidate === word);
    if (match !== undefined) return match;
    // With one wrong letter allowed, most codes of languages are near one of two letters.
    const near = nearest(words, word, 0);
    throw usageError(
      `${name} must be one of ${words.join(', ')}, not "${word}"`,
      near && `did you mean ${near}?`,
    );
  };

/** Returns the name most like a word, in any case. One letter in three may be wrong, two at most. */
export function nearest(names: readonly string[], word: string, least = 1): string | undefined {
  const letters = word.replace(/^--/, '').length;
  const most = Math.min(2, Math.max(least, Math.floor(letters / 3)));
  const edits = (name: string) => distance(name.toLowerCase(), word.toLowerCase(), most);
  const [near] = names.filter((name) => edits(name) <= most).sort((a, b) => edits(a) - edits(b));
  return near;
}

/**
 * Counts edits that turn one word into another (Damerau-Levenshtein, optimal string alignment), exactly up to `most`.
 * fastest-levenshtein counts two swapped letters, the most common slip, as two edits.
 */
function distance(from: string, to: string, most: number): number {
  if (most < 0 || from === '' || to === '') return Math.max(from.length, to.length);
  if (from[0] === to[0]) return distance(from.slice(1), to.slice(1), most);
  const after = (skipped: number, added: number) =>
    1 + distance(from.slice(skipped), to.slice(added), most - 1);
  const swapped = from[0] === to[1] && from[1] === to[0] ? after(2, 2) : most + 1;
  return Math.min(after(1, 0), after(0, 1), after(1, 1), swapped);
}
