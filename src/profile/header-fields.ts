import type { HeaderFields } from '../platform/context';
import { usageError } from '../platform/errors';
import { isSystemError, whyUnreadable } from '../platform/files/file-error';
import type { User } from '../platform/files/owner';
import { readOwn } from '../platform/private-folder';

/** Headers that the program sets itself, or that frame a message (RFC 9110, 7.6.1). */
const ours = new Set(
  'accept accept-encoding authorization connection content-encoding content-length content-type expect host keep-alive range te trailer transfer-encoding upgrade user-agent'.split(
    ' ',
  ),
);

/**
 * Reads a file of headers, one a line; empty lines and those that begin with `#` are comments. Values are visible ASCII with
 * spaces (RFC 9110, 5.5), and in no message.
 * @param uid of the user, whose file it must be; undefined on Windows
 * @throws CliError (usage) that names file and line
 */
export function readHeadersFile(path: string, uid: User): HeaderFields {
  const fields = new Map<string, string>();
  for (const [at, text] of read(path, uid).split(/\r?\n/).entries()) {
    if (/^\s*(#|$)/.test(text)) continue;
    const place = `line ${at + 1} of the headers file "${path}"`;
    const [, name, value = ''] = /^([!#$%&'*+.^`|~\w-]+):[ \t]*(.*?)[ \t]*$/s.exec(text) ?? [];
    if (name === undefined) throw usageError(`${place} is not of the form 'Name: value'`);
    const key = name.toLowerCase();
    if (value === '') throw usageError(`${place} has no value`);
    if (!/^[\x20-\x7e]+$/.test(value))
      throw usageError(`the value of ${place} has control or non-ASCII characters`);
    if (ours.has(key) || key.startsWith('proxy-'))
      throw usageError(`${place} sets ${key}, which pwpush sets itself`);
    if (fields.has(key)) throw usageError(`${place} repeats ${key}`);
    fields.set(key, value);
  }
  if (fields.size === 0) throw usageError(`the headers file "${path}" contains no header`);
  return Object.fromEntries(fields);
}

function read(path: string, user: User): string {
  try {
    const instead = 'use another file, as headers may contain secrets';
    return readOwn(path, { user, what: 'the headers file', instead, closed: 0o077 });
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw usageError(`cannot read the headers file "${path}": ${whyUnreadable(error)}`);
  }
}
