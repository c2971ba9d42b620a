import { withoutControls } from '../terminal/safe';

/** Bytes of UTF-8 that every common file system takes for one name. */
const MAX_BYTES = 255;
/** What stands for a name of which nothing is left. */
const NAMELESS = 'file';
/** Devices of Windows, whatever extension follows (Microsoft, "Naming Files, Paths, and Namespaces"). */
const device = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(?:\.|$)/i;

/**
 * One component of a path from a name that somebody else chose: nothing of it leads to another folder, is
 * acted on by a terminal, or names a device. At most 255 bytes; a leading dot or dash is kept.
 */
export function safeName(name: string): string {
  const last = name.split(/[/\\]/).findLast((part) => part !== '') ?? '';
  const plain = withoutControls(last)
    .replace(/[\s.]+$/, '')
    .trimStart();
  const usable = plain === '' ? NAMELESS : plain;
  return fitted(device.test(usable) ? `_${usable}` : usable);
}

/** The same name for its second, third … file: `report (2).pdf`. */
export function numbered(name: string, number: number): string {
  return fitted(name, ` (${number})`);
}

/** What two names have in common that some file systems take for the same. */
export function nameKey(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

/** The name with something put before its extension, its stem cut so that all of it fits. */
export function fitted(name: string, insertion = '', room = MAX_BYTES): string {
  const extension = extensionOf(name);
  const stem = name.slice(0, name.length - extension.length);
  return cut(stem, room - bytes(insertion + extension)) + insertion + extension;
}

/** `.gz`, `.tar.gz`; nothing for `.env`, nor for what is too long to be one. */
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
