import { closeSync, openSync, readSync } from 'node:fs';

const BYTES = 16;
/** For as many keys at once as a batch has. */
const POOL = 256 * BYTES;

let pool: Buffer = Buffer.alloc(0);

/**
 * 128 random bits in base64url. They are of the system's own generator where that is a file: `node:crypto`, which reads the
 * same one, takes 2 ms to load, and most calls of an instance need nothing else of it.
 */
export async function randomKey(): Promise<string> {
  if (pool.length === 0) pool = ofSystem() ?? (await import('node:crypto')).randomBytes(POOL);
  const key = pool.toString('base64url', 0, BYTES);
  pool = pool.subarray(BYTES);
  return key;
}

function ofSystem(): Buffer | undefined {
  try {
    const file = openSync('/dev/urandom', 'r');
    const bytes = Buffer.alloc(POOL);
    const read = readSync(file, bytes, 0, POOL, null);
    closeSync(file);
    return read === POOL ? bytes : undefined;
  } catch {
    return undefined;
  }
}
