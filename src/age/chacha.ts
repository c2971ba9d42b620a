import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';

const CIPHER = 'chacha20-poly1305';
/** Bytes that `seal` adds. */
export const TAG = 16;

/** Encrypts with ChaCha20-Poly1305 (RFC 8439); the result is ciphertext and tag. */
export function seal(key: Uint8Array, nonce: Uint8Array, plain: Uint8Array): Buffer {
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG });
  const body = cipher.update(plain);
  // With a stream cipher, `final` returns nothing and only completes the tag.
  cipher.final();
  return Buffer.concat([body, cipher.getAuthTag()], body.length + TAG);
}

/** Decrypts what `seal` returned; undefined if the key or the nonce differs, or the data was changed. */
export function open(
  key: Uint8Array,
  nonce: Uint8Array,
  sealed: Uint8Array,
): Buffer<ArrayBuffer> | undefined {
  if (sealed.length < TAG) return;
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG });
  decipher.setAuthTag(sealed.subarray(-TAG));
  const plain = decipher.update(sealed.subarray(0, -TAG));
  try {
    decipher.final();
  } catch {
    return;
  }
  return plain as Buffer<ArrayBuffer>;
}

/** Derives 32 bytes with HKDF-SHA-256 (RFC 5869). */
export function derive(secret: Uint8Array, salt: Uint8Array, info: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, salt, info, 32));
}

/** Base64 without padding (RFC 4648, section 4). */
export function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    .toString('base64')
    .replace(/=+$/, '');
}

/** Decodes base64 without padding; undefined if the text is not canonical (RFC 4648, section 3.5). */
export function fromBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return base64(bytes) === text ? bytes : undefined;
}
