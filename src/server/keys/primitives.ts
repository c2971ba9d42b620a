import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hkdfSync,
  randomBytes,
  type ScryptOptions,
  scrypt,
  timingSafeEqual,
} from 'node:crypto';
import { promisify } from 'node:util';
import { Semaphore, type Waiter } from '../queues';
import type { PassphraseCost } from '../service-settings';

const VERSION = 1;
const NONCE = 12;
const TAG = 16;
const HEAD = 1 + NONCE + TAG;

/**
 * Encrypts what the service stores, with AES-256-GCM; the result is version, nonce, tag, ciphertext. `context` (the
 * associated data) names the value and its row, so that a sealed value does not open in another place. The column
 * `sealed_with` means another encryption: that of the client, with age.
 */
export function seal(
  key: Uint8Array,
  plain: Uint8Array | string,
  context: string,
  nonce: Uint8Array = newNonce(),
): Buffer {
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG });
  cipher.setAAD(Buffer.from(context));
  // With a stream cipher, `final` returns nothing and only completes the tag.
  const body = cipher.update(plain as string, 'utf8');
  cipher.final();
  return Buffer.concat([Buffer.from([VERSION]), nonce, cipher.getAuthTag(), body]);
}

/** Unused nonces. Getting one at a time from the system takes most of the time of sealing a short text. */
let nonces = Buffer.alloc(0);

function newNonce(): Buffer {
  if (nonces.length === 0) nonces = randomBytes(256 * NONCE);
  const nonce = nonces.subarray(0, NONCE);
  nonces = nonces.subarray(NONCE);
  return nonce;
}

/** Derives the nonce from key and text, so that the same text is sealed to the same bytes again. */
export function nonceOf(key: Uint8Array, plain: Uint8Array): Buffer {
  return createHmac('sha256', derive(key, 'pwpush nonce'))
    .update(plain)
    .digest()
    .subarray(0, NONCE);
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

/** Derives a key of `bytes` bytes for one purpose (HKDF-SHA-256, RFC 5869). */
export function derive(key: Uint8Array, purpose: string, bytes = 32): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', purpose, bytes));
}

/** A try takes 16 MiB and about 0.15 s: OWASP's equivalent of N = 2^17, p = 1, at an eighth of the memory. */
export const PASSPHRASE_COST: PassphraseCost = { N: 2 ** 14, r: 8, p: 5 };

/**
 * Two checks run at a time, so that memory stays flat and half of Node's four threads stays free. At most 32 checks
 * wait, the last one for 3 s, and at most 4 of one client. Retrievals go before creations.
 */
const line = new Semaphore(2, 32, 4);

export function passphraseChecks(): { readonly running: number; readonly waiting: number } {
  return line.length;
}

export interface PassphraseRecord {
  readonly salt: Uint8Array;
  /** `N:r:p`, so that a later version may ask for more. */
  readonly cost: string;
  readonly verifier: Uint8Array;
}

/**
 * Derives a key from the passphrase, and a record to check it: half of scrypt's output is the key, and a hash of the
 * other half the verifier.
 * @throws ServiceRefusal when too many checks wait, or the client has gone before its turn
 */
export async function recordPassphrase(passphrase: string, cost: PassphraseCost, waiter?: Waiter) {
  const salt = randomBytes(16);
  const { key, verifier } = await stretch(passphrase, salt, cost, { ...waiter, urgent: false });
  return { record: { salt, cost: `${cost.N}:${cost.r}:${cost.p}`, verifier }, key };
}

/** Returns undefined if the passphrase is not the one on record. Throws as `recordPassphrase` does. */
export async function keyOfPassphrase(
  passphrase: string,
  record: PassphraseRecord,
  waiter?: Waiter,
): Promise<Buffer | undefined> {
  const [N = 0, r = 0, p = 0] = record.cost.split(':').map(Number);
  const urgently = { ...waiter, urgent: true };
  const { key, verifier } = await stretch(passphrase, record.salt, { N, r, p }, urgently);
  return timingSafeEqual(verifier, record.verifier) ? key : undefined;
}

const scryptKey = promisify<string, Uint8Array, number, ScryptOptions, Buffer>(scrypt);

/** Hashes the passphrase in NFC (RFC 8265, OpaqueString), because systems encode the same characters differently. */
function stretch(passphrase: string, salt: Uint8Array, cost: PassphraseCost, waiter: Waiter) {
  return line.run(async () => {
    const options = { ...cost, maxmem: 256 * cost.N * cost.r };
    const output = await scryptKey(passphrase.normalize('NFC'), salt, 64, options);
    const verifier = createHash('sha256').update(output.subarray(32)).digest();
    return { key: output.subarray(0, 32), verifier };
  }, waiter);
}
