import { hmac } from '@noble/hashes/hmac.js';
import { scryptAsync } from '@noble/hashes/scrypt.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { ascii, type Primitives } from '../../../age/format/platform';

/** Milliseconds between which the browser can draw and react. */
const SLICE = 30;
/** Bytes that become base64 at a time, a multiple of three: a call takes a limited number of arguments. */
const PIECE = 3 * 4096;

/** The primitives of age that proofs of keys need too. */
export const hashes: Pick<Primitives, 'hmac' | 'toBase64' | 'fromBase64'> = {
  hmac: (key, text) => hmac(sha256, key, text),
  toBase64(bytes) {
    let text = '';
    for (let at = 0; at < bytes.length; at += PIECE)
      text += btoa(String.fromCharCode(...bytes.subarray(at, at + PIECE)));
    return text;
  },
  fromBase64(text) {
    try {
      return ascii(atob(text));
    } catch {
      return undefined;
    }
  },
};

/** @see Scrypt */
export function scrypt(passphrase: string, salt: Uint8Array, work: number): Promise<Uint8Array> {
  const bytes = new TextEncoder().encode(passphrase);
  return scryptAsync(bytes, salt, { N: 2 ** work, r: 8, p: 1, dkLen: 32, asyncTick: SLICE });
}
