import {
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  type ScryptOptions,
  scrypt,
} from 'node:crypto';
import { AgeError } from './age-error';
import { base64, chacha, derive, fromBase64, TAG } from './chacha';
import type { Stanza } from './header';
import { isLinkKey } from './link-key';

// age.md (https://c2sp.org/age), "Native recipient types".

/** A public key or a passphrase to encrypt to. */
export interface Recipient {
  /** Wraps a file key. */
  wrap(fileKey: Uint8Array): Stanza | Promise<Stanza>;
}

/** A private key or a passphrase to decrypt with. */
export interface Identity {
  /** The type of stanza that it unwraps. */
  readonly type: string;
  /**
   * Unwraps the file key; undefined if the stanza is for another key.
   * @throws AgeError (header) when the stanza is invalid
   */
  unwrap(stanza: Stanza): Uint8Array | undefined | Promise<Uint8Array | undefined>;
}

/** Bytes of a file key. */
export const FILE_KEY = 16;
/** Fixed, since every wrap key is used once. */
const NONCE = Buffer.alloc(12);

/** Encrypts a file key with a wrap key. */
export async function sealFileKey(key: Uint8Array, fileKey: Uint8Array): Promise<Buffer> {
  return (await chacha(key)).seal(NONCE, fileKey);
}

/**
 * Decrypts the file key of a stanza; undefined if the wrap key differs.
 * @throws AgeError (header) for a body of another length, which may have been made to match several keys
 */
export async function openFileKey(key: Uint8Array, { body }: Stanza) {
  if (body.length !== FILE_KEY + TAG) throw invalidStanza();
  return (await chacha(key)).open(NONCE, body);
}

/**
 * Decodes an argument of a stanza in base64.
 * @param length in bytes
 * @throws AgeError (header)
 */
export function argument(text: string | undefined, length: number): Buffer {
  const bytes = fromBase64(text ?? '');
  if (bytes?.length !== length) throw invalidStanza();
  return bytes;
}

export function invalidStanza(): AgeError {
  return new AgeError('header', 'the header has an invalid stanza');
}

// Section "The scrypt recipient type".

const SALT = 16;
/** The work factor of words, 64 MiB of memory; that of a link key is at most as high. */
export const MODERATE_WORK = 16;
/** The highest work factor that is accepted from a file: 1 GiB of memory and some seconds. */
const MAX_WORK = 20;

/**
 * A passphrase, for encryption.
 * @param work the base-two logarithm of the scrypt work factor: 10 for random keys of 128 bits, 16 for words
 * @throws AgeError (key) when it is empty
 */
export function passphraseRecipient(passphrase: string, work: number): Recipient {
  if (passphrase === '') throw new AgeError('key', 'the passphrase is empty');
  return {
    async wrap(fileKey) {
      const salt = randomBytes(SALT);
      const body = await sealFileKey(await stretch(passphrase, salt, work), fileKey);
      return { type: 'scrypt', args: [base64(salt), `${work}`], body };
    },
  };
}

/** A passphrase, for decryption. */
export function passphraseIdentity(passphrase: string): Identity {
  const max = isLinkKey(passphrase) ? MODERATE_WORK : MAX_WORK;
  return {
    type: 'scrypt',
    async unwrap(stanza) {
      const [text, work = '', ...more] = stanza.args;
      const salt = argument(text, SALT);
      if (!/^[1-9]\d*$/.test(work) || more.length > 0) throw invalidStanza();
      if (Number(work) > max)
        throw new AgeError('header', `the scrypt work factor is over the limit of 2^${max}`);
      return openFileKey(await stretch(passphrase, salt, Number(work)), stanza);
    },
  };
}

function stretch(passphrase: string, salt: Uint8Array, work: number): Promise<Buffer> {
  const labelled = Buffer.concat([Buffer.from('age-encryption.org/v1/scrypt'), salt]);
  const N = 2 ** work;
  // RFC 7914 needs 128 * r * N bytes, and some more.
  const options: ScryptOptions = { N, r: 8, p: 1, maxmem: 128 * 8 * (N + 1024) };
  return new Promise((resolve, reject) =>
    scrypt(passphrase, labelled, 32, options, (error, key) =>
      error ? reject(error) : resolve(key),
    ),
  );
}

// Section "The X25519 recipient type".

const X25519 = 'age-encryption.org/v1/X25519';

/**
 * An X25519 public key, for encryption.
 * @throws AgeError (key) for a point of low order
 */
export function x25519Recipient(point: Uint8Array): Recipient {
  // Throws for a point of low order.
  ephemeral(point);
  return {
    async wrap(fileKey) {
      const { share, shared } = ephemeral(point);
      const key = derive(shared, Buffer.concat([share, point]), X25519);
      return { type: 'X25519', args: [base64(share)], body: await sealFileKey(key, fileKey) };
    },
  };
}

/** An X25519 private key of 32 bytes, for decryption. */
export function x25519Identity(secret: Uint8Array): Identity {
  const key = x25519Key(secret);
  const point = x25519Public(key);
  return {
    type: 'X25519',
    async unwrap(stanza) {
      if (stanza.args.length !== 1) throw invalidStanza();
      const share = argument(stanza.args[0], 32);
      const shared = x25519(key, share);
      if (shared === undefined) throw invalidStanza();
      return openFileKey(derive(shared, Buffer.concat([share, point]), X25519), stanza);
    },
  };
}

/** Makes a new key pair: 32 bytes each. */
export function newX25519(): { readonly secret: Buffer; readonly point: Buffer } {
  const { privateKey } = generateKeyPairSync('x25519');
  const { d = '', x = '' } = privateKey.export({ format: 'jwk' });
  return { secret: Buffer.from(d, 'base64url'), point: Buffer.from(x, 'base64url') };
}

/**
 * Makes a new key pair; returns its public key and the secret that it shares with a point.
 * @throws AgeError (key) for a point of low order, whose secret is always zero (RFC 7748, section 6.1)
 */
export function ephemeral(point: Uint8Array): { share: Buffer; shared: Buffer } {
  const { privateKey } = generateKeyPairSync('x25519');
  const shared = x25519(privateKey, point);
  if (shared === undefined) throw new AgeError('key', 'the public key is invalid');
  return { share: x25519Public(privateKey), shared };
}

/** X25519 (RFC 7748, section 5); undefined for a point of low order, whose result is zero. */
export function x25519(privateKey: KeyObject, point: Uint8Array): Buffer | undefined {
  const jwk = { kty: 'OKP', crv: 'X25519', x: Buffer.from(point).toString('base64url') };
  const publicKey = createPublicKey({ key: jwk, format: 'jwk' });
  try {
    // OpenSSL refuses a result of zero.
    return diffieHellman({ privateKey, publicKey });
  } catch {
    return;
  }
}

/** Prefix of the 32 bytes of an X25519 private key in DER (RFC 8410, section 7). */
const PKCS8 = Buffer.from('302e020100300506032b656e04220420', 'hex');

/** Imports a private key of 32 bytes. This takes ten times as long as using it. */
export function x25519Key(secret: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([PKCS8, secret]), format: 'der', type: 'pkcs8' });
}

/** The public key of a private key. */
export function x25519Public(key: KeyObject): Buffer {
  return Buffer.from(createPublicKey(key).export({ format: 'jwk' }).x ?? '', 'base64url');
}
