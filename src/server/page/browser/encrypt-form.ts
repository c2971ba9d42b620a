import { encodeManifest, encryptedName, isManifest, type Manifest } from '../../../manifest';
import {
  decryptText,
  encryptFile,
  encryptText,
  LINK_WORK,
  macIn,
  newLinkKey,
} from './age-passphrase';
import { blobOf, piecesOf } from './blobs';
import { manifestIn } from './decrypted-files';
import { find } from './dom';
import { KEY_ITEM } from './key-item';

// Encrypts what the form of the front page sends. The page with the link gets the key from the storage of this tab.

/** What is sent instead of the text and the files. */
interface Encrypted {
  readonly payload: string;
  readonly files: readonly File[];
}

document.addEventListener('DOMContentLoaded', () => {
  const form = find<HTMLFormElement>(document, 'form');
  const box = find<HTMLInputElement>(form, '#encrypt');
  const text = find<HTMLTextAreaElement>(form, '#payload');
  const picker = form.querySelector<HTMLInputElement>('#files');
  const status = find(form, '.status');
  const stored = storage();
  if (!stored) {
    box.checked = false;
    box.disabled = true;
    return;
  }
  let encrypted: Encrypted | undefined;
  let busy = false;

  const send = async () => {
    const key = newLinkKey();
    encrypted = await encrypt(text.value, [...(picker?.files ?? [])], key);
    stored.setItem(KEY_ITEM, key);
    form.submit();
  };

  form.addEventListener('submit', (event) => {
    stored.removeItem(KEY_ITEM);
    const isEmpty = text.value.trim() === '' && !picker?.files?.length;
    // What is not encrypted is found by the service.
    if (!box.checked || isEmpty) return;
    event.preventDefault();
    if (busy) return;
    busy = true;
    status.textContent = status.dataset.busy ?? '';
    send().catch(() => {
      busy = false;
      status.textContent = status.dataset.invalid ?? '';
    });
  });

  form.addEventListener('formdata', ({ formData }) => {
    if (!encrypted) return;
    formData.set('push[payload]', encrypted.payload);
    if (encrypted.files.length > 0) formData.delete('push[files][]');
    for (const file of encrypted.files) formData.append('push[files][]', file);
  });

  // A form that was refused has what was sent.
  const key = stored.getItem(KEY_ITEM);
  if (key && text.value.startsWith('-----BEGIN AGE'))
    decryptText(text.value, key).then((plain) => {
      const manifest = manifestIn(plain);
      text.value = manifest ? (manifest.message ?? '') : plain;
    });
});

/** Undefined where the browser does not allow it. */
function storage(): Storage | undefined {
  try {
    return sessionStorage;
  } catch {
    return undefined;
  }
}

async function encrypt(text: string, files: readonly File[], key: string): Promise<Encrypted> {
  if (files.length === 0 && isManifest(text)) throw new Error();
  if (files.length === 0) return { payload: await encryptText(text, key, LINK_WORK), files };
  const made: File[] = [];
  const listed: Manifest['files'][number][] = [];
  for (const [at, file] of files.entries()) {
    const { blob, mac } = await encryptBlob(file, key);
    made.push(new File([blob], encryptedName(at), { type: 'application/octet-stream' }));
    const type = file.type || 'application/octet-stream';
    listed.push({ name: file.name, type, size: file.size, mac });
  }
  const manifest = encodeManifest({ message: text.trim() ? text : undefined, files: listed });
  return { payload: await encryptText(manifest, key, LINK_WORK), files: made };
}

async function encryptBlob(file: Blob, key: string): Promise<{ blob: Blob; mac: string }> {
  const chunks = encryptFile(piecesOf(file.stream()), key, LINK_WORK);
  const { value: header } = await chunks.next();
  if (!header) throw new Error();
  return { blob: new Blob([header, await blobOf(chunks)]), mac: macIn(header) };
}
