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

/** A line of `Name: value`, and what an error calls it. */
interface Line {
  readonly text: string;
  readonly place: string;
}

/**
 * Parses header lines. Values are visible ASCII with spaces (RFC 9110, 5.5), and in no message.
 * @throws CliError (usage) that names the place of the line
 */
function parseHeaders(lines: readonly Line[]): HeaderFields {
  const fields = new Map<string, string>();
  for (const { text, place } of lines) {
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
  return Object.fromEntries(fields);
}

/**
 * Reads a file of headers, one a line; empty lines and those that begin with `#` are comments.
 * @param uid of the user, whose file it must be; undefined on Windows
 * @throws CliError (usage) that names file and line
 */
export function readHeadersFile(path: string, uid: User): HeaderFields {
  const text = read(path, uid);
  const lines = text
    .split(/\r?\n/)
    .map((line, at) => ({ text: line, place: `line ${at + 1} of the headers file "${path}"` }))
    .filter((line) => !/^\s*(#|$)/.test(line.text));
  if (lines.length === 0) throw usageError(`the headers file "${path}" contains no header`);
  return parseHeaders(lines);
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
