import { randomInt } from 'node:crypto';
import type { Generated } from './generated';

/** A whole number from 0 up to that one, each as likely as the others. */
export type Draw = (below: number) => number;

/** Letters and digits that are told apart: no 0 O 1 l I. */
const LETTERS = 'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789';

/** The signs survive shells, forms and being read aloud: no quotes. */
const alphabets = {
  signs: `${LETTERS}-_.+=@%`,
  alnum: LETTERS,
  hex: '0123456789abcdef',
  digits: '0123456789',
};

/** A secret as asked for, drawn without bias; a little under 6 bits a character, or 12.9 a word. */
export async function generate({ of, count }: Generated, draw: Draw = randomInt): Promise<string> {
  if (of === 'words') return generateWords(count, draw);
  const alphabet = alphabets[of];
  return Array.from({ length: count }, () => alphabet[draw(alphabet.length)]).join('');
}

/** So many words with dashes between them, drawn without bias: 12.9 bits each. */
export async function generateWords(count: number, draw: Draw = randomInt): Promise<string> {
  const { wordList } = await import('./words');
  const words = wordList();
  return Array.from({ length: count }, () => words[draw(words.length)]).join('-');
}
