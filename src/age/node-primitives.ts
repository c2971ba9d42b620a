import {
  type Cipher,
  createCipheriv,
  createDecipheriv,
  createHmac,
  createPrivateKey,
  createPublicKey,
  type Decipher,
  diffieHellman,
  getCipherInfo,
  randomBytes,
  scrypt as scryptOfNode,
  webcrypto,
} from 'node:crypto';
import { type Bytes, type Chacha, type KeyPair, type Primitives, TAG } from './format/platform';

const CIPHER = 'chacha20-poly1305';

export const node: Primitives = {
  // Runtimes with BoringSSL have the cipher in WebCrypto only.
  chacha: (key) => (getCipherInfo(CIPHER) === undefined ? webChacha(key) : nodeChacha(key)),
  hmac: (key, text) => createHmac('sha256', key).update(text).digest(),
  random: (length) => new Uint8Array(randomBytes(length)),
  toBase64: (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64'),
  fromBase64: (text) => Buffer.from(text, 'base64'),
  pause: () => new Promise((resolve) => setImmediate(resolve)),
};

/** Buffers that are transferred to this port are freed, since it is closed. */
const nowhere = new MessageChannel().port1;
nowhere.close();

/**
 * Bytes of a chunk in the first call of `update`, which allocates one byte more than it returns, and copies. For a
 * whole chunk, the two buffers are often 16 bytes more than a multiple of a page apart. At this distance, the copy
 * (`rep movsb` of glibc 2.36, on an AMD EPYC) has a twentieth of its speed, and takes as long as encrypting.
 */
const CUT = 62 * 1024;

const updated = (cipher: Cipher | Decipher, bytes: Uint8Array) =>
  [cipher.update(bytes.subarray(0, CUT)), cipher.update(bytes.subarray(CUT))] as Bytes[];

function nodeChacha(key: Uint8Array): Chacha {
  return {
    seal(nonce, plain) {
      const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG });
      const body = updated(cipher, plain);
      // With a stream cipher, `final` returns nothing and only completes the tag.
      cipher.final();
      return [...body, cipher.getAuthTag() as Bytes];
    },
    open(nonce, sealed) {
      if (sealed.length < TAG) return;
      const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG });
      decipher.setAuthTag(sealed.subarray(-TAG));
      const plain = updated(decipher, sealed.subarray(0, -TAG));
      try {
        decipher.final();
      } catch {
        return;
      }
      return plain;
    },
    // If results waited for the garbage collector, the system would map and clear 16 times as many pages.
    free: (results) =>
      nowhere.postMessage(
        undefined,
        results.map(({ buffer }) => buffer),
      ),
  };
}

/** Implements "ChaCha20-Poly1305" of Modern Algorithms in the Web Cryptography API (WICG). */
async function webChacha(bytes: Uint8Array): Promise<Chacha> {
  const { subtle } = webcrypto;
  const name = 'ChaCha20-Poly1305';
  // The types of Node.js 20 lack `raw-secret`.
  const format: string = 'raw-secret';
  const key = await subtle.importKey(format as 'raw', bytes, name, false, ['encrypt', 'decrypt']);
  return {
    seal: async (iv, plain) => [Buffer.from(await subtle.encrypt({ name, iv }, key, plain))],
    open: async (iv, sealed) => {
      try {
        return [Buffer.from(await subtle.decrypt({ name, iv }, key, sealed))];
      } catch (error) {
        if ((error as Error).name === 'OperationError') return;
        throw error;
      }
    },
  };
}

export function scrypt(passphrase: string, salt: Uint8Array, work: number): Promise<Buffer> {
  const [N, r, p] = [2 ** work, 8, 1];
  // scrypt needs 128 * r * N bytes (RFC 7914) and a little more.
  const maxmem = 128 * r * (N + 1024);
  return new Promise((resolve, reject) =>
    scryptOfNode(passphrase, salt, 32, { N, r, p, maxmem }, (error, key) =>
      error ? reject(error) : resolve(key),
    ),
  );
}

/** DER prefix of the 32 bytes of an X25519 private key (RFC 8410, section 7). */
const PKCS8 = Buffer.from('302e020100300506032b656e04220420', 'hex');

/** Imports a private key. The import takes ten times as long as a use of the key. */
export function x25519(secret: Uint8Array): KeyPair {
  const der = Buffer.concat([PKCS8, secret]);
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' });
  return {
    point: Buffer.from(x, 'base64url'),
    shared(point) {
      const jwk = { kty: 'OKP', crv: 'X25519', x: Buffer.from(point).toString('base64url') };
      const publicKey = createPublicKey({ key: jwk, format: 'jwk' });
      try {
        // OpenSSL throws for a point of low order, whose shared secret is zero.
        return diffieHellman({ privateKey, publicKey });
      } catch {
        return;
      }
    },
  };
}
