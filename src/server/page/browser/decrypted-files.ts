import { AgeError } from '../../../age/age-error';
import {
  decodeManifest,
  encryptedName,
  isManifest,
  type Manifest,
  type ManifestFile,
} from '../../../age/manifest';
import { decryptFile } from './age-passphrase';
import { blobOf, piecesOf } from './blobs';
import { find } from './dom';
import { sizeText } from './formats';

/** The manifest that a text is; undefined for any other text, and for another version. */
export function manifestIn(text: string): Manifest | undefined {
  const found = isManifest(text) ? decodeManifest(text) : '';
  return typeof found === 'string' ? undefined : found;
}

/**
 * Makes the download buttons save decrypted files under their real names. The button of a file that cannot be decrypted
 * then saves it as it came.
 * @param report receives what failed, or undefined when a download begins
 * @throws AgeError (payload) when the files of the page are not those of the manifest
 */
export function offerFiles(
  list: HTMLElement,
  { files }: Manifest,
  key: string,
  label: string,
  report: (failed: unknown) => void,
): void {
  const links = [...list.querySelectorAll<HTMLAnchorElement>('a[download]')];
  const linkOf = (at: number) => links.find(({ download }) => download === encryptedName(at));
  if (files.length !== links.length || !files.every((_, at) => linkOf(at))) throw exchanged();
  // One after another, as each takes the whole processor.
  let last = Promise.resolve();
  for (const [at, file] of files.entries()) {
    const link = linkOf(at) as HTMLAnchorElement;
    const item = link.closest('li') as HTMLElement;
    const note = find(item, '.size');
    const sealedSize = note.textContent ?? '';
    const size = sizeText(file.size, document.documentElement.lang);
    const progress = (done: number) => {
      note.textContent = `${size} · ${Math.floor((done / file.size) * 100)} %`;
    };
    const show = (name: string, bytes: string) => {
      find(item, '.name').textContent = name;
      note.textContent = bytes;
      link.setAttribute('aria-label', label.replace('{name}', name));
    };
    show(file.name, size);
    const download = (event: Event) => {
      const { href } = link;
      if (!href) return;
      event.preventDefault();
      report(undefined);
      last = last
        .then(() => decrypted(href, file, key, progress))
        .then((blob) => save(blob, file.name))
        .then(() => show(file.name, size))
        .catch((error) => {
          report(error);
          // The network may bring it the next time.
          if (error instanceof TypeError) return show(file.name, size);
          link.removeEventListener('click', download);
          show(link.download, sealedSize);
        });
    };
    link.addEventListener('click', download);
  }
}

async function decrypted(
  href: string,
  { size, mac }: ManifestFile,
  key: string,
  progress: (done: number) => void,
): Promise<Blob> {
  // The page may be open under another name than the one that links begin with.
  const { body, ok } = await fetch(new URL(href).pathname);
  if (!ok || !body) throw new TypeError();
  const file = await blobOf(await decryptFile(piecesOf(body), key, mac), progress);
  if (file.size !== size) throw exchanged();
  return file;
}

function exchanged(): AgeError {
  return new AgeError('payload', 'the files are not those of the manifest');
}

function save(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  // It is read while the browser asks where to save it.
  setTimeout(() => URL.revokeObjectURL(link.href), 600_000);
}
