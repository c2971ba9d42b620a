import { scalarMult, scalarMultBase } from '@stablelib/x25519';
import { AgeError } from '../../../age/age-error';
import { armored, decrypted, opened, prepared, workOf } from '../../../age/format/age-file';
import { type Bytes, type KeyPair, unpadded } from '../../../age/format/platform';
import {
  pointRecipient,
  type Recipient,
  scryptIdentity,
  scryptRecipient,
} from '../../../age/format/stanzas';
import { noble, scrypt } from './noble';

// This module uses no API that needs a secure context, as the page also opens over plain http.

export function passphraseRecipient(passphrase: string, work: number): Recipient {
  return scryptRecipient(noble, scrypt, passphrase, work);
}

/** Runs in constant time, unlike @noble/curves. WebCrypto is missing over plain http. */
export function x25519(secret: Uint8Array): KeyPair {
  return {
    point: scalarMultBase(secret),
    shared(point) {
      const shared = scalarMult(secret, point);
      return shared.some((byte) => byte !== 0) ? shared : undefined;
    },
  };
}

export function x25519Recipient(point: Uint8Array): Recipient {
  return pointRecipient(noble, x25519, point);
}

export async function encryptText(text: string, recipient: Recipient): Promise<string> {
  return armored(noble, await prepared(noble, [recipient]), new TextEncoder().encode(text));
}

export async function encryptFile(pieces: AsyncIterable<Uint8Array>, recipient: Recipient) {
  const { encrypt, mac } = await prepared(noble, [recipient]);
  return { chunks: encrypt(pieces), mac };
}

/**
 * Returns the scrypt work factor of armor, which is higher for words than for link keys.
 * @throws AgeError (armor, header); (key) if the armor is encrypted to public keys, not with a passphrase
 */
export async function passphraseWork(armor: string): Promise<number> {
  const work = await workOf(noble, armor);
  if (work === undefined) throw new AgeError('key', 'it needs an identity file');
  return work;
}

/**
 * Decrypts armor that holds a text.
 * @throws AgeError as `passphraseWork` and `opened` do
 */
export async function decryptText(armor: string, passphrase: string): Promise<string> {
  await passphraseWork(armor);
  const bytes = await opened(noble, armor, [scryptIdentity(noble, scrypt, passphrase)]);
  // A byte order mark is a part of the text.
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}

export function decryptFile(
  pieces: AsyncIterable<Uint8Array>,
  passphrase: string,
  mac?: string,
): Promise<AsyncGenerator<Bytes, void, undefined>> {
  return decrypted(noble, pieces, [scryptIdentity(noble, scrypt, passphrase)], mac);
}

/** Returns 128 random bits in 22 characters of base64url. */
export function newLinkKey(): string {
  const text = unpadded(noble, noble.random(16));
  return text.replaceAll('+', '-').replaceAll('/', '_');
}
