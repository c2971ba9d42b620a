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
import { find, report } from './dom';
import { sizeText } from './formats';

/** Returns undefined for a text that is no manifest, and for a manifest of another version. */
export function manifestIn(text: string): Manifest | undefined {
  const manifest = isManifest(text) ? decodeManifest(text) : '';
  return typeof manifest === 'string' ? undefined : manifest;
}

/**
 * Makes the download buttons of a page save decrypted files under their real names.
 * @throws AgeError (payload) when the files of the page are not those of the manifest
 */
export function offerFiles(root: HTMLElement, { files }: Manifest, key: string): void {
  const links = [...root.querySelectorAll<HTMLAnchorElement>('.list a[download]')];
  const linkOf = (index: number) => links.find(({ download }) => download === encryptedName(index));
  if (files.length !== links.length || !files.every((_, index) => linkOf(index))) throw exchanged();
  for (const [index, file] of files.entries())
    offerFile(root, linkOf(index) as HTMLAnchorElement, file, key);
}

/** Files are decrypted one after another, as each takes the whole processor. PURE lets other scripts drop this line. */
let last = /* @__PURE__ */ Promise.resolve();

/** If the file cannot be decrypted, the button saves the encrypted file. */
function offerFile(root: HTMLElement, link: HTMLAnchorElement, file: ManifestFile, key: string) {
  const { damaged = '', expired = '', download: label = '' } = root.dataset;
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
    report(root, '');
    last = last
      .then(() => decrypted(href, file, key, progress))
      .then((blob) => {
        save(blob, file.name);
        show(file.name, size);
      })
      .catch((error) => {
        report(root, error instanceof AgeError ? damaged : expired);
        // After a network error, the next click may work.
        if (error instanceof TypeError) return show(file.name, size);
        link.removeEventListener('click', download);
        show(link.download, sealedSize);
      });
  };
  link.addEventListener('click', download);
}

async function decrypted(
  href: string,
  { size, mac }: ManifestFile,
  key: string,
  progress: (done: number) => void,
): Promise<Blob> {
  // The page may be open at another host than its links name, and its policy allows only its own origin.
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
  // The browser reads the blob only after the user has chosen where to save it.
  setTimeout(() => URL.revokeObjectURL(link.href), 600_000);
}
