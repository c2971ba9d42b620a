import { randomInt } from 'node:crypto';

/** Letters, digits and signs that survive shells, forms and being read aloud: no 0 O 1 l I, no quotes. */
const ALPHABET = 'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789-_.+=@%';

/** A password of so many characters, drawn without bias: a little under 6 bits each. */
export function generatePassword(length: number): string {
  return Array.from({ length }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
}
