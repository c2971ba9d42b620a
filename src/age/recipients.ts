import {
  type Identity,
  pointRecipient,
  type Recipient,
  scryptIdentity,
  scryptRecipient,
  secretIdentity,
} from './format/stanzas';
import { node, scrypt, x25519 } from './node-primitives';

export { type Identity, MODERATE_WORK, type Recipient } from './format/stanzas';

/** @see scryptRecipient */
export const passphraseRecipient = (passphrase: string, work: number): Recipient =>
  scryptRecipient(node, scrypt, passphrase, work);

/** @see scryptIdentity */
export const passphraseIdentity = (passphrase: string): Identity =>
  scryptIdentity(node, scrypt, passphrase);

/** @see pointRecipient */
export const x25519Recipient = (point: Uint8Array): Recipient =>
  pointRecipient(node, x25519, point);

/** @see secretIdentity */
export const x25519Identity = (secret: Uint8Array): Identity =>
  secretIdentity(node, x25519, secret);
