import { linkKeyIn, wordsIn } from './link-key';

/** Five words of a key are most of it. */
const LEAST_WORDS = 5;
const MOST_MISTYPED = 2;
const SHORTEST_WORD = 3;
const LONGEST_WORD = 9;

/** A link with a fragment, which may be a damaged key. */
const WITH_FRAGMENT = /(?::\/\/|\/[pr]\/).*?(?:#|%(?:25)*23)/s;
/**
 * A link key, of which one character more or less was copied, between quotes or the like. A generated secret has signs of
 * its own there, so that of these only a period is taken, after a whole key.
 */
const NEAR_LINK_KEY =
  /^[^\w.+@%-]*(?=.*[a-z])(?=.*[A-Z])(?=.*\d)(?:[\w-]{21,23}|[\w-]{22}\.)(?:[^\w.+@%-][^\w-]*)?$/;
/** Private keys of age and SSH. */
const PRIVATE_KEY = /AGE-SECRET-KEY-|PRIVATE KEY-----/i;
/** The last word of a generated passphrase, which no key has. */
const GENERATED_END = /-[a-z]+\d$/;

/**
 * Returns whether a text that may be sent as a passphrase would give most of a key away: a link with a fragment, about
 * as many characters as a link key has, or words of the list, few of them mistyped, with or without separators.
 * @param list the words; none of them are needed unless `looksLikeWords`
 */
export function isNearKey(typed: string, list: readonly string[]): boolean {
  // Pages and chats add characters that nobody sees.
  const text = typed.normalize('NFKC').replace(/\p{Cf}/gu, '');
  if (linkKeyIn(text) !== undefined || WITH_FRAGMENT.test(text) || PRIVATE_KEY.test(text))
    return true;
  const pieces = [text.replace(/\s+/g, ''), ...text.split(/[\s#=:,;]+/)];
  if (pieces.some((piece) => NEAR_LINK_KEY.test(piece))) return true;
  const known = new Set(list);
  const separated = text
    .trim()
    .replace(GENERATED_END, '')
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2');
  const words = wordsIn(separated).flatMap((word) => split(word, known));
  const listed = words.filter((word) => known.has(word)).length;
  const mistyped = words.length - listed;
  return listed >= LEAST_WORDS || (words.length >= LEAST_WORDS && mistyped <= MOST_MISTYPED);
}

/** Returns whether a text has as many letters as the words of a key, so that only the list tells what it is. */
export function looksLikeWords(text: string): boolean {
  const words = wordsIn(text).filter((word) => word.length >= SHORTEST_WORD);
  return words.join('').length >= LEAST_WORDS * SHORTEST_WORD;
}

/** Splits joined words, the longest that fits first; what is between them counts as one mistyped word. */
function split(joined: string, known: ReadonlySet<string>): string[] {
  const words: string[] = [];
  let rest = '';
  for (let at = 0; at < joined.length; ) {
    let size = LONGEST_WORD;
    while (size > 0 && !known.has(joined.slice(at, at + size))) size--;
    if (size === 0) rest += joined[at++];
    else {
      words.push(rest, joined.slice(at, at + size));
      rest = '';
      at += size;
    }
  }
  const parts = [...words, rest].filter((word) => word !== '');
  const isOne = joined.length <= LONGEST_WORD + 1 && parts.some((part) => !known.has(part));
  return isOne ? [joined] : parts;
}
