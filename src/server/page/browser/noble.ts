import { chacha20poly1305 } from '@noble/ciphers/chacha.js';
import { hmac } from '@noble/hashes/hmac.js';
import { scryptAsync } from '@noble/hashes/scrypt.js';
import { sha256 } from '@noble/hashes/sha2.js';

// The primitives of age in a browser. WebCrypto has neither scrypt nor ChaCha20, and is missing over plain http.

/** Milliseconds between which the browser can draw and react. */
const SLICE = 30;

/** Encrypts with ChaCha20-Poly1305 (RFC 8439); the result is ciphertext and tag. */
export function seal(key: Uint8Array, nonce: Uint8Array, plain: Uint8Array): Uint8Array {
  return chacha20poly1305(key, nonce).encrypt(plain);
}

/** Decrypts what `seal` returned; undefined if the key or the nonce differs, or the data was changed. */
export function open(
  key: Uint8Array,
  nonce: Uint8Array,
  sealed: Uint8Array,
): Uint8Array | undefined {
  try {
    return chacha20poly1305(key, nonce).decrypt(sealed);
  } catch {
    return undefined;
  }
}

/** HMAC-SHA-256 (RFC 2104). */
export function mac(key: Uint8Array, text: Uint8Array): Uint8Array {
  return hmac(sha256, key, text);
}

/** scrypt (RFC 7914) with r = 8 and p = 1, in slices: 32 bytes. */
export function stretch(
  passphrase: Uint8Array,
  salt: Uint8Array,
  work: number,
): Promise<Uint8Array> {
  return scryptAsync(passphrase, salt, { N: 2 ** work, r: 8, p: 1, dkLen: 32, asyncTick: SLICE });
}
