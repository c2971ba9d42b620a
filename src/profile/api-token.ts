import { usageError } from '../platform/errors';
import { readText } from '../platform/private-folder';

/** A header requires visible ASCII without spaces. */
export function isToken(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}

/**
 * Parses an API token that was read from a file, pipe or prompt: one line of visible ASCII (RFC 6750, 2.1).
 * @param source names in messages where the token is from; undefined for a prompt
 * @throws CliError (usage) that does not quote the text
 */
export function parseToken(text: string, source?: string): string {
  const token = text.trim();
  const name = source === undefined ? 'the token' : `the token from ${source}`;
  if (token === '') throw usageError(`${name} is empty`);
  if (isToken(token)) return token;
  throw usageError(`${name} is invalid: a token is one line of letters, digits and symbols`);
}

/** @throws CliError (usage) when the file cannot be read or contains no token */
export async function readTokenFile(path: string): Promise<string> {
  return parseToken(await readText(path, 'token file'), path);
}
