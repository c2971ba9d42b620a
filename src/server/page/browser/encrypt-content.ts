import type { Recipient } from '../../../age/format/stanzas';
import { encodeManifest, encryptedName, isManifest, type Manifest } from '../../../age/manifest';
import { encryptFile, encryptText } from './age-passphrase';
import { blobOf, piecesOf } from './blobs';

/** Content that a form sends in place of the entered text and files. */
export interface Encrypted {
  readonly text: string;
  readonly files: readonly File[];
}

/** Encrypted files have this media type, and the manifest names it for files without a type. */
const BYTES = 'application/octet-stream';

/**
 * Encrypts a text and files (docs/encryption.md, "Files"). `progress` receives the file bytes encrypted so far.
 * @throws Error for a text that looks like a manifest
 */
export async function encryptContent(
  text: string,
  files: readonly File[],
  recipient: Recipient,
  progress?: (bytes: number) => void,
): Promise<Encrypted> {
  if (files.length === 0 && isManifest(text)) throw new Error();
  if (files.length === 0) return { text: await encryptText(text, recipient), files };
  const made: File[] = [];
  const listed: Manifest['files'][number][] = [];
  let done = 0;
  for (const [index, file] of files.entries()) {
    const { chunks, mac } = await encryptFile(piecesOf(file.stream()), recipient);
    const blob = await blobOf(chunks, (bytes) => progress?.(done + bytes));
    done += file.size;
    made.push(new File([blob], encryptedName(index), { type: BYTES }));
    const type = file.type || BYTES;
    listed.push({ name: file.name, type, size: file.size, mac });
  }
  const manifest = encodeManifest({ message: text.trim() ? text : undefined, files: listed });
  return { text: await encryptText(manifest, recipient), files: made };
}
