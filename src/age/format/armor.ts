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
