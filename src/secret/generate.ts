import { randomInt } from 'node:crypto';

/** Letters, digits and signs that survive shells, forms and being read aloud: no 0 O 1 l I, no quotes. */
const ALPHABET = 'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789-_.+=@%';

/** A password of so many characters, drawn without bias: a little under 6 bits each. */
export function generatePassword(length: number): string {
  return Array.from({ length }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
}

/** So many words with dashes between them, drawn without bias: 12.9 bits each. */
export async function generateWords(count: number): Promise<string> {
  const { wordList } = await import('./words');
  const words = wordList();
  return Array.from({ length: count }, () => words[randomInt(words.length)]).join('-');
}
