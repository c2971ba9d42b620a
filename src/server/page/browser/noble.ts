import { chacha20poly1305 } from '@noble/ciphers/chacha.js';
import { hmac } from '@noble/hashes/hmac.js';
import { scryptAsync } from '@noble/hashes/scrypt.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { ascii, type Bytes, type Primitives } from '../../../age/format/platform';

/** Milliseconds of scrypt after which the browser can draw and react. */
const SLICE = 30;
/** Bytes per call, which takes a limited number of arguments. A multiple of three pads only the last piece. */
const PIECE = 3 * 4096;

const hmacSha256: Primitives['hmac'] = (key, text) => hmac(sha256, key, text);

function toBase64(bytes: Uint8Array): string {
  let text = '';
  for (let start = 0; start < bytes.length; start += PIECE)
    text += btoa(String.fromCharCode(...bytes.subarray(start, start + PIECE)));
  return text;
}

function fromBase64(text: string): Bytes | undefined {
  try {
    return ascii(atob(text));
  } catch {
    return undefined;
  }
}

export function scrypt(passphrase: string, salt: Uint8Array, work: number): Promise<Uint8Array> {
  const bytes = new TextEncoder().encode(passphrase);
  return scryptAsync(bytes, salt, { N: 2 ** work, r: 8, p: 1, dkLen: 32, asyncTick: SLICE });
}

/** The primitives of key proofs. A script that uses no others is bundled without ChaCha20. */
export const hashes = { hmac: hmacSha256, toBase64, fromBase64 };

/** The primitives of age in a browser. WebCrypto has neither scrypt nor ChaCha20, and is missing over plain http. */
export const noble: Primitives = {
  hmac: hmacSha256,
  toBase64,
  fromBase64,
  chacha: (key) => ({
    seal: (nonce, plain) => [chacha20poly1305(key, nonce).encrypt(plain) as Bytes],
    open(nonce, sealed) {
      try {
        return [chacha20poly1305(key, nonce).decrypt(sealed) as Bytes];
      } catch {
        return undefined;
      }
    },
  }),
  random: (length) => crypto.getRandomValues(new Uint8Array(length)),
  pause: () => new Promise((resolve) => setTimeout(resolve)),
};
