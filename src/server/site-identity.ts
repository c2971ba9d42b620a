import { open } from 'node:fs/promises';
import { parseUrl } from '../contract/address';
import { whyUnreadable } from '../platform/files/file-error';
import { invalidInput } from './service-errors';
import type { ServiceSettings } from './service-settings';

/** The identity of the operator as the pages show it. */
export interface Site {
  /** Undefined to show the name of the program. */
  readonly title: string | undefined;
  /** A `data:` URL. */
  readonly logo: string | undefined;
  readonly contact: Contact | undefined;
}

interface Contact {
  readonly text: string;
  /** Where a link leads; undefined for plain text. */
  readonly href: string | undefined;
}

const TITLE_CHARACTERS = 60;
const CONTACT_CHARACTERS = 200;
/** The logo is small because each page contains it. */
const LOGO_BYTES = 64 * 1024;

/** @throws ServiceError that says which of the settings is invalid */
export async function siteOf({ title, logo, contact }: ServiceSettings): Promise<Site> {
  return {
    title: title === undefined ? undefined : line('title', title, TITLE_CHARACTERS),
    logo: logo === undefined ? undefined : await readLogo(logo),
    contact:
      contact === undefined ? undefined : contactOf(line('contact', contact, CONTACT_CHARACTERS)),
  };
}

function line(what: string, text: string, most: number): string {
  const trimmed = text.trim();
  if (trimmed !== '' && trimmed.length <= most && !/\p{C}/u.test(trimmed)) return trimmed;
  throw invalidInput(`the ${what} must have 1 to ${most} printable characters`);
}

/** Links only to an e-mail address or an https address, which are harmless to follow. */
function contactOf(text: string): Contact {
  if (/^https:\/\//i.test(text) && parseUrl(text)?.username === '') return { text, href: text };
  if (/^[\w.+-]+@[a-z\d-]+(?:\.[a-z\d-]+)+$/i.test(text)) return { text, href: `mailto:${text}` };
  return { text, href: undefined };
}

async function readLogo(path: string): Promise<string> {
  const bytes = await read(path);
  if (bytes.length > LOGO_BYTES) throw invalidInput('the logo is larger than 64 KiB');
  const type = imageType(bytes);
  if (type) return `data:${type};base64,${bytes.toString('base64')}`;
  throw invalidInput('the logo is not a PNG, JPEG, WebP or SVG image');
}

/** Reads at most one byte more than the limit, which shows that a file is larger. */
async function read(path: string): Promise<Buffer> {
  try {
    const file = await open(path);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(LOGO_BYTES + 1));
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw invalidInput(`cannot read the logo "${path}": ${whyUnreadable(error)}`);
  }
}

/** Returns the media type of an image by its first bytes, as the extension of the file may be wrong. */
function imageType(bytes: Buffer): string | undefined {
  const start = bytes.toString('latin1', 0, 16);
  if (start.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (start.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (/^RIFF.{4}WEBP/s.test(start)) return 'image/webp';
  // Scripts in an SVG do not run: browsers disable them in images.
  const text = bytes.toString('utf8').replace(/^\ufeff/, '');
  const prologue =
    /^(?:\s|<\?[^>]*\?>|<!--[\s\S]*?-->|<!DOCTYPE svg[^>[]*>)*/i.exec(text)?.[0] ?? '';
  return /^<svg[\s>]/i.test(text.slice(prologue.length)) ? 'image/svg+xml' : undefined;
}
