import { AgeError } from '../age-error';
import { isLinkKey } from '../link-key';
import type { Stanza } from './header';
import {
  ascii,
  type Bytes,
  derive,
  fromUnpadded,
  joined,
  type Primitives,
  type Scrypt,
  TAG,
  unpadded,
  type X25519,
} from './platform';

// The recipients of an age file (https://c2sp.org/age, "Native recipient types").

export interface Recipient {
  wrap(fileKey: Uint8Array): Stanza | Promise<Stanza>;
}

export interface Identity {
  readonly type: string;
  /**
   * Returns the file key of a stanza; undefined if the stanza is for another key.
   * @throws AgeError (header) when the stanza is invalid
   */
  unwrap(stanza: Stanza): Uint8Array | undefined | Promise<Uint8Array | undefined>;
}

export const FILE_KEY = 16;
/** The nonce is fixed, since every wrap key is used once. */
const NONCE = new Uint8Array(12);

export async function sealFileKey({ chacha }: Primitives, key: Uint8Array, fileKey: Uint8Array) {
  return joined(await (await chacha(key)).seal(NONCE, fileKey));
}

/**
 * Decrypts the file key of a stanza; undefined if `key` is not its wrap key.
 * @throws AgeError (header) for a body of the wrong length, which may have been made to match several keys
 */
export async function openFileKey({ chacha }: Primitives, key: Uint8Array, { body }: Stanza) {
  if (body.length !== FILE_KEY + TAG) throw invalidStanza();
  const fileKey = await (await chacha(key)).open(NONCE, body);
  return fileKey && joined(fileKey);
}

/** @throws AgeError (header) when the argument is not base64 of `length` bytes */
export function argument(primitives: Primitives, text: string | undefined, length: number): Bytes {
  const bytes = fromUnpadded(primitives, text ?? '');
  if (bytes?.length !== length) throw invalidStanza();
  return bytes;
}

export function invalidStanza(): AgeError {
  return new AgeError('header', 'the header has an invalid stanza');
}

const SALT = 16;
/** The scrypt work factor of a key of words, which takes 64 MiB of memory. A link key has at most this work factor. */
export const MODERATE_WORK = 16;
/** The highest work factor that is accepted from a file takes 1 GiB of memory and some seconds. */
const MAX_WORK = 20;

/**
 * Returns a recipient that wraps the file key with a passphrase ("The scrypt recipient type").
 * @param work the base-two logarithm of the scrypt work factor: 10 for random keys of 128 bits, 16 for words
 * @throws AgeError (key) when the passphrase is empty
 */
export function scryptRecipient(
  primitives: Primitives,
  scrypt: Scrypt,
  passphrase: string,
  work: number,
): Recipient {
  if (passphrase === '') throw new AgeError('key', 'the passphrase is empty');
  return {
    async wrap(fileKey) {
      const salt = primitives.random(SALT);
      const key = await scrypt(passphrase, labelled(salt), work);
      const body = await sealFileKey(primitives, key, fileKey);
      return { type: 'scrypt', args: [unpadded(primitives, salt), `${work}`], body };
    },
  };
}

export function scryptIdentity(
  primitives: Primitives,
  scrypt: Scrypt,
  passphrase: string,
): Identity {
  const max = isLinkKey(passphrase) ? MODERATE_WORK : MAX_WORK;
  return {
    type: 'scrypt',
    async unwrap(stanza) {
      const [text, work = '', ...more] = stanza.args;
      const salt = argument(primitives, text, SALT);
      if (!/^[1-9]\d*$/.test(work) || more.length > 0) throw invalidStanza();
      if (Number(work) > max)
        throw new AgeError('header', `the scrypt work factor is over the limit of 2^${max}`);
      const key = await scrypt(passphrase, labelled(salt), Number(work));
      return openFileKey(primitives, key, stanza);
    },
  };
}

function labelled(salt: Uint8Array): Uint8Array {
  return joined([ascii('age-encryption.org/v1/scrypt'), salt]);
}

const LABEL = 'age-encryption.org/v1/X25519';

/**
 * Returns a recipient that wraps the file key for an X25519 public key ("The X25519 recipient type").
 * @throws AgeError (key) for a point of low order, whose shared secret is always zero (RFC 7748, section 6.1)
 */
export function pointRecipient(
  primitives: Primitives,
  x25519: X25519,
  point: Uint8Array,
): Recipient {
  // `ephemeral` throws for a point of low order, before anything is encrypted.
  ephemeral(primitives, x25519, point);
  return {
    async wrap(fileKey) {
      const { share, shared } = ephemeral(primitives, x25519, point);
      const key = derive(primitives, shared, joined([share, point]), LABEL);
      const body = await sealFileKey(primitives, key, fileKey);
      return { type: 'X25519', args: [unpadded(primitives, share)], body };
    },
  };
}

export function secretIdentity(
  primitives: Primitives,
  x25519: X25519,
  secret: Uint8Array,
): Identity {
  const pair = x25519(secret);
  return {
    type: 'X25519',
    async unwrap(stanza) {
      const [text, ...more] = stanza.args;
      const share = argument(primitives, text, 32);
      if (more.length > 0) throw invalidStanza();
      const shared = pair.shared(share);
      if (shared === undefined) throw invalidStanza();
      const key = derive(primitives, shared, joined([share, pair.point]), LABEL);
      return openFileKey(primitives, key, stanza);
    },
  };
}

/**
 * Makes a new key pair. Returns its public key and the secret that it shares with `point`.
 * @throws AgeError (key) for a point of low order
 */
export function ephemeral(
  { random }: Primitives,
  x25519: X25519,
  point: Uint8Array,
): { share: Uint8Array; shared: Uint8Array } {
  const pair = x25519(random(32));
  const shared = pair.shared(point);
  if (shared === undefined) throw new AgeError('key', 'the public key is invalid');
  return { share: pair.point, shared };
}
