import { chacha20poly1305 } from '@noble/ciphers/chacha.js';
import type { Bytes, Primitives } from '../../../age/format/platform';
import { hashes } from './noble-hashes';

export { scrypt } from './noble-hashes';

/** The primitives of age in a browser. WebCrypto has neither scrypt nor ChaCha20, and is missing over plain http. */
export const noble: Primitives = {
  ...hashes,
  chacha: (key) => ({
    seal: (nonce, plain) => [chacha20poly1305(key, nonce).encrypt(plain) as Bytes],
    open(nonce, sealed) {
      try {
        return chacha20poly1305(key, nonce).decrypt(sealed) as Bytes;
      } catch {
        return undefined;
      }
    },
  }),
  random: (length) => crypto.getRandomValues(new Uint8Array(length)),
  pause: () => new Promise((resolve) => setTimeout(resolve)),
};
