import { keyProof } from '../../../age/key-proof';
import { LINK_WORK } from '../../../age/link-key';
import { decryptText, newLinkKey, passphraseRecipient } from './age-passphrase';
import { manifestIn } from './decrypted-files';
import { find } from './dom';
import { type Encrypted, encryptContent } from './encrypt-content';
import { noble, scrypt } from './noble';
import { KEY_ITEM, storage } from './tab-storage';

// Encrypts what the front page sends. The next page, which shows the link, gets the key from session storage.

interface ProvedContent extends Encrypted {
  readonly proof: string;
}

document.addEventListener('DOMContentLoaded', () => {
  const form = find<HTMLFormElement>(document, 'form');
  const box = find<HTMLInputElement>(form, '#encrypt');
  const text = find<HTMLTextAreaElement>(form, '#payload');
  const picker = form.querySelector<HTMLInputElement>('#files');
  const status = find(form, '.status');
  const stored = storage();
  if (!stored) {
    Object.assign(box, { checked: false, disabled: true });
    return;
  }
  let encrypted: ProvedContent | undefined;
  let busy = false;
  // Disables the fields: text and files that are entered during encryption would not be encrypted.
  const hold = (held: boolean) => {
    busy = held;
    text.disabled = held;
    if (picker) picker.disabled = held;
  };

  const refuse = () => {
    status.textContent = status.dataset.invalid ?? '';
  };

  const send = async () => {
    const key = newLinkKey();
    const recipient = passphraseRecipient(key, LINK_WORK);
    const content = await encryptContent(text.value, [...(picker?.files ?? [])], recipient);
    const proof = await keyProof({ primitives: noble, scrypt }, key, undefined);
    stored.setItem(KEY_ITEM, key);
    encrypted = { ...content, proof: proof ?? '' };
    form.submit();
  };

  form.addEventListener('submit', (event) => {
    stored.removeItem(KEY_ITEM);
    if (!box.checked) return stored.setItem(KEY_ITEM, '');
    // The service refuses an empty form.
    if (text.value.trim() === '' && !picker?.files?.length) return;
    event.preventDefault();
    if (busy) return;
    hold(true);
    status.textContent = status.dataset.busy ?? '';
    send().catch(() => {
      hold(false);
      refuse();
    });
  });

  form.addEventListener('formdata', ({ formData }) => {
    if (encrypted) replaceContent(formData, encrypted);
  });

  // The browser may keep this page for its Back button, so the form is emptied and its fields are enabled.
  addEventListener('pagehide', () => {
    if (!busy) return;
    encrypted = undefined;
    status.textContent = '';
    form.reset();
    hold(false);
  });

  restore(text, stored.getItem(KEY_ITEM)).catch(refuse);
});

/** Removes the plain files first: a file dialog that was open when encryption began can still add one. */
function replaceContent(form: FormData, { text, files, proof }: ProvedContent): void {
  form.set('push[payload]', text);
  form.set('push[key_proof]', proof);
  form.delete('push[files][]');
  for (const file of files) form.append('push[files][]', file);
}

/** Decrypts the text in a form that the service refused, as it returns the encrypted one. */
async function restore(text: HTMLTextAreaElement, key: string | null): Promise<void> {
  if (!key || !text.value.startsWith('-----BEGIN AGE')) return;
  const plain = await decryptText(text.value, key);
  const manifest = manifestIn(plain);
  text.value = manifest ? (manifest.message ?? '') : plain;
}
