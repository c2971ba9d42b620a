/** What a part of a form is called, and its file name when it is a file. */
export interface Disposition {
  readonly name: string;
  readonly filename: string | undefined;
}

/** Reads a part's Content-Disposition, given with a character for each byte; nothing when it names no field. */
export function readDisposition(text: string): Disposition | undefined {
  if (!/^\s*form-data\s*(?:;|$)/i.test(text)) return undefined;
  const values = new Map<string, string>();
  const pattern = /;\s*([^\s=;]+)\s*=\s*(?:"((?:\\.|[^"\\])*)"|([^;]*))/g;
  for (const [, key = '', quoted, bare = ''] of text.matchAll(pattern)) {
    const name = key.toLowerCase();
    if (!values.has(name)) values.set(name, quoted ?? bare.trim());
  }
  const name = values.get('name');
  if (name === undefined) return undefined;
  const plain = values.get('filename');
  const extended = values.get('filename*');
  return {
    name: unquoted(name),
    filename:
      (extended && readExtended(extended)) ?? (plain === undefined ? plain : unquoted(plain)),
  };
}

/**
 * A file name that harms nobody who shows or saves it: its last component, with what steers a terminal or turns
 * text around replaced.
 */
export function plainName(filename: string): string {
  const base = filename.replace(/^.*[/\\]/s, '').replace(STEERING, '_');
  return /^\.{0,2}$/.test(base) ? 'file' : base;
}

// Controls, line and paragraph separators, and the marks and overrides of writing direction.
const STEERING = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** A Content-Disposition that has any browser save the file under that name (RFC 6266). */
export function attachment(name: string): string {
  // Some decode percent signs even here.
  const fallback = name.replace(/[^ -~]|["\\%]/gu, '_');
  return `attachment; filename="${fallback}"; filename*=UTF-8''${extendedValue(name)}`;
}

/** Backslashes before anything but quotes and themselves are those of Windows; %22, %0D and %0A are how browsers quote (HTML, 4.10.21.8). */
function unquoted(value: string): string {
  const text = value
    .replace(/\\(["\\])/g, '$1')
    .replace(/%(?:22|0d|0a)/gi, (code) => decodeURIComponent(code));
  return utf8(text) ?? text;
}

/** The bytes as UTF-8; nothing when they are something else. */
function utf8(bytes: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(bytes, 'latin1'));
  } catch {
    return undefined;
  }
}

/** `UTF-8''%e2%82%ac` (RFC 8187); nothing when it is not that. */
function readExtended(value: string): string | undefined {
  const [, charset = '', encoded = ''] = /^([\w-]+)'[^']*'(.*)$/s.exec(value) ?? [];
  const bytes = encoded.replace(/%([\da-f]{2})/gi, (_, code) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  if (/^utf-8$/i.test(charset)) return utf8(bytes);
  return /^iso-8859-1$/i.test(charset) ? bytes : undefined;
}

function extendedValue(name: string): string {
  return encodeURIComponent(name).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
