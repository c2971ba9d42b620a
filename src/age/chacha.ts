import { createCipheriv, createDecipheriv, getCipherInfo, hkdfSync, webcrypto } from 'node:crypto';

const CIPHER = 'chacha20-poly1305';
/** Bytes that `seal` adds. */
export const TAG = 16;

/** ChaCha20-Poly1305 (RFC 8439) with one key. */
export interface Chacha {
  /** Encrypts; the result is ciphertext and tag. */
  seal(nonce: Uint8Array, plain: Uint8Array): Buffer | Promise<Buffer>;
  /** Decrypts what `seal` returned; undefined if the key or the nonce differs, or the data was changed. */
  open(nonce: Uint8Array, sealed: Uint8Array): Plain | Promise<Plain>;
}

type Plain = Buffer<ArrayBuffer> | undefined;

/** Runtimes with BoringSSL have the cipher in WebCrypto only. */
export async function chacha(key: Uint8Array): Promise<Chacha> {
  return getCipherInfo(CIPHER) === undefined ? webChacha(key) : nodeChacha(key);
}

function nodeChacha(key: Uint8Array): Chacha {
  return {
    seal(nonce, plain) {
      const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG });
      const body = cipher.update(plain);
      // With a stream cipher, `final` returns nothing and only completes the tag.
      cipher.final();
      return Buffer.concat([body, cipher.getAuthTag()], body.length + TAG);
    },
    open(nonce, sealed) {
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
    },
  };
}

/** Modern Algorithms in the Web Cryptography API (WICG), "ChaCha20-Poly1305". */
async function webChacha(bytes: Uint8Array): Promise<Chacha> {
  const { subtle } = webcrypto;
  const name = 'ChaCha20-Poly1305';
  // Not in the types of Node.js 20.
  const format: string = 'raw-secret';
  const key = await subtle.importKey(format as 'raw', bytes, name, false, ['encrypt', 'decrypt']);
  return {
    seal: async (iv, plain) => Buffer.from(await subtle.encrypt({ name, iv }, key, plain)),
    open: async (iv, sealed) => {
      try {
        return Buffer.from(await subtle.decrypt({ name, iv }, key, sealed));
      } catch (error) {
        if ((error as Error).name === 'OperationError') return;
        throw error;
      }
    },
  };
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
