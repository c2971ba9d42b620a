import { AgeError } from '../age-error';
import type { Bytes, Primitives } from './platform';

// The armor of an age file (https://c2sp.org/age, "ASCII armor") is the strict encoding of RFC 7468, section 3.

const BEGIN = '-----BEGIN AGE ENCRYPTED FILE-----';
const END = '-----END AGE ENCRYPTED FILE-----';
const COLUMNS = 64;

export function encodeArmor({ toBase64 }: Primitives, file: Uint8Array): string {
  return `${BEGIN}\n${toBase64(file).replace(/.{1,64}/g, '$&\n')}${END}\n`;
}

export function armorSize(fileSize: number): number {
  const characters = Math.ceil(fileSize / 3) * 4;
  return BEGIN.length + characters + Math.ceil(characters / COLUMNS) + END.length + 2;
}

/**
 * Decodes canonical armor, with CRLF or LF, and with white space around it.
 * @throws AgeError (armor) for any other text
 */
export function decodeArmor({ fromBase64, toBase64 }: Primitives, text: string): Bytes {
  const lines = linesOf(text.trim());
  const next = () => lines.next().value;
  if (next() !== BEGIN) throw new AgeError('armor', 'the armor has no valid first line');
  // Only the last line may be shorter, since millions of short lines would take gigabytes of memory.
  const body: string[] = [];
  let line = next();
  for (; line?.length === COLUMNS; line = next()) body.push(line);
  if (line !== undefined && line !== END) {
    if (line === '' || line.length > COLUMNS) throw invalidArmor();
    body.push(line);
    line = next();
  }
  if (line !== END || next() !== undefined)
    throw new AgeError('armor', 'the armor is truncated, or has text after it');
  const base64 = body.join('');
  const file = fromBase64(base64);
  if (file === undefined || toBase64(file) !== base64) throw invalidArmor();
  return file;
}

/** What mail programs and chats put between or before the characters of quoted armor. */
const QUOTES = /[\s>|`]+/g;

/**
 * Finds armor within a text, such as a mail that quotes it, or has it in one line.
 * @returns the armor in lines of its own, and whether the text has anything else; undefined without the first mark
 */
export function armorIn(text: string): { armor: string; isAlone: boolean } | undefined {
  const from = text.indexOf(BEGIN);
  if (from < 0) return undefined;
  const end = text.indexOf(END, from);
  const to = end < 0 ? text.length : end;
  const body = text.slice(from + BEGIN.length, to).replace(QUOTES, '');
  const others = text.slice(0, from) + text.slice(to + END.length);
  return {
    armor: `${BEGIN}\n${body.replace(/.{1,64}/g, '$&\n')}${text.slice(to, to + END.length)}\n`,
    isAlone: others.replace(QUOTES, '') === '',
  };
}

function* linesOf(text: string): Generator<string, undefined> {
  for (let from = 0, to = 0; to < text.length; from = to + 1) {
    const end = text.indexOf('\n', from);
    to = end < 0 ? text.length : end;
    yield text.slice(from, end > from && text[end - 1] === '\r' ? end - 1 : to);
  }
}

function invalidArmor(): AgeError {
  return new AgeError('armor', 'the armor is not valid');
}
