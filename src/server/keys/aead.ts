import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const VERSION = 1;
const NONCE = 12;
const TAG = 16;
const HEAD = 1 + NONCE + TAG;

/**
 * Encrypts with AES-256-GCM; the result is version, nonce, tag, ciphertext. `context` (the associated data) names the
 * value and its row, so that a sealed value does not open in another place.
 */
export function seal(key: Uint8Array, plain: Uint8Array | string, context: string): Buffer {
  const nonce = randomBytes(NONCE);
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG });
  cipher.setAAD(Buffer.from(context));
  // With a stream cipher, `final` returns nothing and only completes the tag.
  const body = cipher.update(plain as string, 'utf8');
  cipher.final();
  return Buffer.concat([Buffer.from([VERSION]), nonce, cipher.getAuthTag(), body]);
}

/**
 * Decrypts a sealed value.
 * @throws Error when the key or the context differs, or the value was changed
 */
export function unseal(key: Uint8Array, sealed: Uint8Array, context: string): Buffer {
  if (sealed.length < HEAD || sealed[0] !== VERSION) throw new Error('not a sealed value');
  const nonce = sealed.subarray(1, 1 + NONCE);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG });
  decipher.setAAD(Buffer.from(context));
  decipher.setAuthTag(sealed.subarray(1 + NONCE, HEAD));
  const plain = decipher.update(sealed.subarray(HEAD));
  decipher.final();
  return plain;
}

/** A value is sealed with a key that this process does not have. */
export class UnknownKey extends Error {
  override readonly name = 'UnknownKey';
}

/** Derives a key of that many bytes for one purpose (HKDF-SHA-256, RFC 5869). */
export function derive(key: Uint8Array, purpose: string, bytes = 32): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', purpose, bytes));
}
