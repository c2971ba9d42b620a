import { AgeError } from './age-error';

// age.md (https://c2sp.org/age), "ASCII armor": the strict encoding of RFC 7468, section 3.

const BEGIN = '-----BEGIN AGE ENCRYPTED FILE-----';
const END = '-----END AGE ENCRYPTED FILE-----';
const COLUMNS = 64;

/** Encodes an age file as armor, with a final line end. */
export function encodeArmor(file: Uint8Array): string {
  const text = Buffer.from(file.buffer, file.byteOffset, file.length).toString('base64');
  return `${BEGIN}\n${text.replace(/.{1,64}/g, '$&\n')}${END}\n`;
}

/** Length of the armor of a binary file of that many bytes. */
export function armorSize(file: number): number {
  const characters = Math.ceil(file / 3) * 4;
  return BEGIN.length + characters + Math.ceil(characters / COLUMNS) + END.length + 2;
}

/**
 * Decodes armor. White space around it and CRLF are accepted; otherwise it must be canonical.
 * @throws AgeError (armor)
 */
export function decodeArmor(text: string): Buffer {
  const [begin, ...body] = text.trim().split(/\r?\n/);
  if (begin !== BEGIN) throw new AgeError('armor', 'the armor has no valid first line');
  if (body.pop() !== END)
    throw new AgeError('armor', 'the armor is truncated, or has text after it');
  const base64 = body.join('');
  const bytes = Buffer.from(base64, 'base64');
  const short = body.slice(0, -1).some((line) => line.length !== COLUMNS);
  const last = body.at(-1)?.length ?? COLUMNS;
  if (short || last === 0 || last > COLUMNS || bytes.toString('base64') !== base64)
    throw new AgeError('armor', 'the armor is not valid');
  return bytes;
}
