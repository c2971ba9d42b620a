import filenameReserved, { windowsReservedNameRegex } from 'filename-reserved-regex';
import { withoutControls } from '../cli/terminal/safe';

export interface Folder {
  readonly path: string;
  readonly force: boolean;
  /** Names that this run has given, which it does not replace. */
  readonly taken: Set<string>;
  /** In a folder that the user named, `.env` may keep its dot. */
  readonly named?: boolean;
  readonly name?: string | undefined;
}

export function nameIn({ name, named }: Folder, filename: string): string {
  return name ?? safeName(filename, named);
}

/** Returns what the sender named a file that gets another name in a folder, and whether `-o .` keeps that. */
export function renamed({ path, name, named }: Folder, filename: string) {
  if (name !== undefined || filename === '' || safeName(filename, named) === filename)
    return undefined;
  const isKept = path === '.' && !named && safeName(filename, true) === filename;
  return { from: filename.slice(-MAX_SHOWN), isKept };
}

/** In bytes of UTF-8: no common file system has a lower limit for one name. */
const MAX_BYTES = 255;
const MAX_SHOWN = 80;
/** Only the last characters of a name are read; an instance may send millions. */
const MAX_READ = 4096;
/**
 * No program obeys these files: `.env`, `.env.local`, `.env-prod`. Any other with a leading dot may decide what shells,
 * editors, package managers, servers and agents run.
 */
const harmless = /^\.env(?:[._ -].*)?$/i;

/**
 * Makes one path component from a name that someone else chose: without other folders or streams, terminal controls, a
 * leading dash or dot, and names of devices, on any system that the file may be copied to. At most 255 bytes.
 * @param keepsDot whether `.env` and the like keep their dot, which they do if the user named the folder
 */
export function safeName(name: string, keepsDot = false): string {
  const last =
    name
      .slice(-MAX_READ)
      .split(/[/\\]/)
      .findLast((part) => part !== '') ?? '';
  const plain = withoutEnd(withoutControls(last)).replace(filenameReserved(), '_').trimStart();
  return withoutEnd(fitted(shown(plain, keepsDot))) || 'file';
}

function shown(name: string, keepsDot: boolean): string {
  if (/^[-.]/.test(name) && !(keepsDot && harmless.test(name))) return `_${name.slice(1)}`;
  return windowsReservedNameRegex().test(name) ? `_${name}` : name;
}

/** A regular expression would take quadratic time. */
function withoutEnd(text: string): string {
  let end = text.length;
  while (end > 0 && /[\s.]/.test(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

/** Returns a name such as `report (2).pdf`. */
export function numbered(name: string, number: number): string {
  return fitted(name, ` (${number})`);
}

/** Two names have the same key if some file system treats them as equal. */
export function nameKey(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

/** Puts the insertion before the extension, and cuts the stem so that all of it fits. */
export function fitted(name: string, insertion = '', room = MAX_BYTES): string {
  const extension = extensionOf(name);
  const stem = name.slice(0, name.length - extension.length);
  return cut(stem, room - bytes(insertion + extension)) + insertion + extension;
}

/** Returns `.gz` or `.tar.gz`; empty for `.env` and for more than 32 bytes. */
function extensionOf(name: string): string {
  const extension = /.((?:\.tar)?\.[^. ]+)$/su.exec(name)?.[1] ?? '';
  return bytes(extension) > 32 ? '' : extension;
}

function cut(text: string, room: number): string {
  if (bytes(text) <= room) return text;
  let kept = '';
  let used = 0;
  for (const character of text) {
    used += bytes(character);
    if (used > room) break;
    kept += character;
  }
  return kept;
}

const bytes = (text: string) => Buffer.byteLength(text, 'utf8');
