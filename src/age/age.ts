import * as format from './format/age-file';
import * as stanzas from './format/stanzas';
import { node, scrypt, x25519 } from './node-primitives';

// This is age for Node.js. The package age-encryption loads 16 ms longer, and has no SSH keys (docs/decisions.md).

export { armoredSize, type PreparedFile } from './format/age-file';
export { type Identity, MODERATE_WORK, type Recipient } from './format/stanzas';

export const prepareFile = (recipients: readonly stanzas.Recipient[]) =>
  format.prepared(node, recipients);

export const decryptStream = (
  file: AsyncIterable<Uint8Array>,
  identities: readonly stanzas.Identity[],
  mac?: string,
) => format.decrypted(node, file, identities, mac);

export const encryptPrepared = (prepared: format.PreparedFile, plaintext: Uint8Array) =>
  format.armored(node, prepared, plaintext);

export const decryptText = async (armor: string, identities: readonly stanzas.Identity[]) =>
  Buffer.from((await format.opened(node, armor, identities)).buffer);

export const passphraseWork = (armor: string) => format.workOf(node, armor);

export const passphraseRecipient = (passphrase: string, work: number) =>
  stanzas.scryptRecipient(node, scrypt, passphrase, work);

export const passphraseIdentity = (passphrase: string) =>
  stanzas.scryptIdentity(node, scrypt, passphrase);

export const x25519Recipient = (point: Uint8Array) => stanzas.pointRecipient(node, x25519, point);

export const x25519Identity = (secret: Uint8Array) => stanzas.secretIdentity(node, x25519, secret);
