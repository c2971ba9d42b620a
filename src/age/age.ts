import * as format from './format/age-file';
import type { Identity, Recipient } from './format/stanzas';
import { node } from './node-primitives';

// age for Node.js. The package age-encryption adds 44 KiB and 16 ms, and has no SSH recipients (docs/decisions.md).

export { armoredSize, type PreparedFile } from './format/age-file';

/** @see format.prepared */
export const prepareFile = (recipients: readonly Recipient[]) => format.prepared(node, recipients);

/** @see format.decrypted */
export const decryptStream = (
  file: AsyncIterable<Uint8Array>,
  identities: readonly Identity[],
  mac?: string,
) => format.decrypted(node, file, identities, mac);

/** @see format.armored */
export const encryptPrepared = (prepared: format.PreparedFile, plaintext: Uint8Array) =>
  format.armored(node, prepared, plaintext);

/** @see format.opened */
export async function decryptText(armor: string, identities: readonly Identity[]): Promise<Buffer> {
  return Buffer.from((await format.opened(node, armor, identities)).buffer);
}

/** @see format.workOf */
export const passphraseWork = (armor: string) => format.workOf(node, armor);
