import { usageError } from './errors';

const MARK = Buffer.from('\ufeff');

/**
 * Bytes in UTF-8, without the byte order mark that editors and PowerShell on Windows begin a text with.
 * @param place how messages name where they are from
 * @throws CliError (usage) for UTF-16, which the first two bytes tell: a mark, or a NUL beside something else
 */
export function withoutMark(bytes: Buffer, place: string): Buffer {
  const [first, second] = bytes;
  const wide = first === 0 ? second !== 0 : second === 0;
  const isMark = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  if (bytes.length > 1 && (wide || isMark))
    throw usageError(`${place} is in UTF-16`, 'save it as UTF-8');
  return bytes.subarray(0, MARK.length).equals(MARK) ? bytes.subarray(MARK.length) : bytes;
}

/**
 * The text of a file that someone wrote for us: settings, headers, keys, certificates, a token or a passphrase. Not of a secret,
 * of which each byte counts. Its lines end in `\n`.
 * @throws CliError (usage) as `withoutMark` does
 */
export function smallText(bytes: Buffer, place: string): string {
  return withoutMark(bytes, place).toString('utf8').replaceAll('\r\n', '\n');
}
