import { randomBytes, randomInt } from 'node:crypto';
import { AgeError } from './age-error';
import { isLinkKey, linkKeyIn, wordsIn } from './link-key';

/** The fewest words of a key: 77 bits with the EFF list. */
const LEAST_WORDS = 6;

/** The key has 128 random bits, as 22 characters of base64url. */
export function newLinkKey(): string {
  return randomBytes(16).toString('base64url');
}

/**
 * Draws at least six words, joined with hyphens.
 * @param list words in lower case; words with a hyphen are never drawn
 */
export function newWords(list: readonly string[], count = LEAST_WORDS): string {
  const words = list.filter((word) => !word.includes('-'));
  const drawn = Array.from({ length: Math.max(LEAST_WORDS, count) }, () => randomInt(words.length));
  return drawn.map((index) => words[index]).join('-');
}

/**
 * Parses a key that was typed or pasted: a link key, alone or in a link, or words (`wordsIn`).
 * @throws AgeError (key) for any other text; the message has the position of a word that is not in the list
 */
export function parseKey(typed: string, list: readonly string[]): string {
  const linked = linkKeyIn(typed);
  if (linked !== undefined && isLinkKey(linked)) return linked;
  const words = wordsIn(linked ?? typed);
  const known = new Set(list);
  if (words.length < LEAST_WORDS || !words.some((word) => known.has(word)))
    throw new AgeError('key', `a key is 22 characters, or ${LEAST_WORDS} or more words`);
  const unknown = words.findIndex((word) => !known.has(word));
  if (unknown >= 0)
    throw new AgeError('key', `word ${unknown + 1} of the key is not in the word list`);
  return words.join('-');
}
