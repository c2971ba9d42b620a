import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const VERSION = 1;
const NONCE = 12;
const TAG = 16;
const HEAD = 1 + NONCE + TAG;

/**
 * Seals with AES-256-GCM: version, nonce, tag, ciphertext. `context` says which value of which row this is,
 * so that a sealed value that is moved elsewhere does not open.
 */
export function seal(key: Uint8Array, plain: Uint8Array | string, context: string): Buffer {
  const nonce = randomBytes(NONCE);
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG });
  cipher.setAAD(Buffer.from(context));
  // A stream cipher: all is there before `final`, which only makes the tag.
  const body = cipher.update(plain as string, 'utf8');
  cipher.final();
  return Buffer.concat([Buffer.from([VERSION]), nonce, cipher.getAuthTag(), body]);
}

/** Opens what `seal` sealed; throws when the key or the context differ, or a bit was changed. */
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

/** The key that something is sealed with is not here. */
export class UnknownKey extends Error {
  override readonly name = 'UnknownKey';
}

/** A key for one purpose, of `bytes` bytes, from a key for all. */
export function derive(key: Uint8Array, purpose: string, bytes = 32): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', purpose, bytes));
}
