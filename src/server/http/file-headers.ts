/*
 * Our own Content-Disposition, not the content-disposition package: that reads `C:\dir\x` as `C:dirx`, and neither
 * raw UTF-8 nor `%22`, which browsers send.
 */

/** The name of a form field, and the file name if it is a file. */
export interface Disposition {
  readonly name: string;
  readonly filename: string | undefined;
}

/** Parses a part's Content-Disposition, one character per byte; undefined when it has no `name`. */
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

/** A file name that is safe to show and save: the last component, without control and direction characters. */
export function safeFileName(filename: string): string {
  const base = filename.replace(/^.*[/\\]/s, '').replace(UNSAFE, '_');
  return /^\.{0,2}$/.test(base) ? 'file' : base;
}

/** Controls, line and paragraph separators, and the marks and overrides of writing direction. */
const UNSAFE = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** A Content-Disposition that makes browsers save the file under that name (RFC 6266). */
export function attachment(name: string): string {
  // Some browsers decode percent signs here, too.
  const fallback = name.replace(/[^ -~]|["\\%]/gu, '_');
  return `attachment; filename="${fallback}"; filename*=UTF-8''${extendedValue(name)}`;
}

/**
 * A backslash escapes only quotes and backslashes: others are part of Windows paths. Browsers escape as %22, %0D and
 * %0A (HTML, 4.10.21.8).
 */
function unquoted(value: string): string {
  const text = value
    .replace(/\\(["\\])/g, '$1')
    .replace(/%(?:22|0d|0a)/gi, (code) => decodeURIComponent(code));
  return utf8(text) ?? text;
}

/** The bytes decoded as UTF-8; undefined when they are invalid. */
function utf8(bytes: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(bytes, 'latin1'));
  } catch {
    return undefined;
  }
}

/** `UTF-8''%e2%82%ac` (RFC 8187); undefined when it is malformed. */
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

const BYTES = 'application/octet-stream';

/** The media type without its parameters; application/octet-stream when it is invalid. */
export function baseMediaType(text: string | undefined): string {
  const type = (text ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  const token = "[a-z0-9!#$%&'*+.^_`|~-]{1,127}";
  return new RegExp(`^${token}/${token}$`).test(type) ? type : BYTES;
}

const ACTIVE =
  /(?:^|[^a-z])(?:x?html|xml|xsl|svg|css|wasm|flash|manifest|[a-z]*script)(?:$|[^a-z])/;

/**
 * The media type, or application/octet-stream for types that a browser may execute. A second defence: responses also
 * make browsers save the file.
 */
export function inertMediaType(type: string): string {
  const known = /^(?:application|audio|font|image|model|text|video)\//.test(type);
  return known && !ACTIVE.test(type) ? type : BYTES;
}
