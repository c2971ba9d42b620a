import { closeSync, openSync, readSync } from 'node:fs';

const BYTES = 16;

/**
 * 128 random bits in base64url. They are of the system's own generator where that is a file: `node:crypto`, which reads the
 * same one, takes 2 ms to load, and most calls of an instance need nothing else of it.
 */
export async function randomKey(): Promise<string> {
  const bytes = systemBytes() ?? (await import('node:crypto')).randomBytes(BYTES);
  return bytes.toString('base64url');
}

function systemBytes(): Buffer | undefined {
  try {
    const file = openSync('/dev/urandom', 'r');
    const bytes = Buffer.alloc(BYTES);
    const read = readSync(file, bytes);
    closeSync(file);
    return read === BYTES ? bytes : undefined;
  } catch {
    return undefined;
  }
}
