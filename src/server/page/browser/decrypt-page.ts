import { AgeError } from '../../../age/age-error';
import { armorIn } from '../../../age/armor-in';
import { isLinkKey, LINK_WORK } from '../../../age/link-key';
import { isWebAddress } from '../../../contract/address';
import { decryptText, passphraseWork } from './age-passphrase';
import { manifestIn, offerFiles } from './decrypted-files';
import { find, report } from './dom';
import { keysIn } from './keys-in';
import { takeWords } from './tab-storage';

/*
 * Decrypts the secret of a page, or armor that is pasted at /open. The texts that the script shows are attributes of
 * the page (src/server/page/encrypted.ts). The script neither sends nor stores the key.
 */

// Removes the key from the address before anything is drawn, so that the browser records the page without it.
const { hash } = location;
const typedWords = takeWords();
const showHash = (shown: string) =>
  history.replaceState(null, '', location.pathname + location.search + shown);
if (hash !== '') showHash('');
// While the class `decrypting` is set, CSS hides the armor and the encrypted files.
const { classList } = document.documentElement;
classList.add('decrypting');
const showArmor = () => classList.remove('decrypting');

document.addEventListener('DOMContentLoaded', () => {
  const root = find(document, '.encrypted');
  const form = find(root, 'form');
  const input = find<HTMLInputElement>(root, '#key');
  const status = find(root, '.status');
  const pasted = root.querySelector<HTMLTextAreaElement>('#armor');
  const armor = () =>
    pasted ? (armorIn(pasted.value)?.armor ?? '') : find(root, '.sealed .value').textContent;
  const word = (name: string) => root.dataset[name] ?? '';
  const askForKey = () => {
    form.hidden = false;
    input.focus();
  };

  const fail = (error: unknown) => {
    // Puts the key back into the address, so that the user can reload the page or copy the link.
    if (!pasted) showHash(hash);
    const problem = problemOf(error);
    if (problem === 'wrong') {
      input.setAttribute('aria-invalid', 'true');
      askForKey();
    }
    report(root, word(problem));
  };

  const decrypt = async (keys: readonly string[], open: boolean) => {
    report(root, '');
    find(root, '.opened').replaceChildren();
    status.textContent = word('busy');
    try {
      const [text, key] = await decryptedBy(keys, armor());
      find(root, '.opened').append(contentOf(root, text, key, open));
      root.classList.add('decrypted');
      input.removeAttribute('aria-invalid');
      form.hidden = !pasted;
      input.value = '';
      showHash('');
    } finally {
      status.textContent = '';
    }
  };

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    // Otherwise, `every-page.ts` would block the next submit for five seconds.
    event.stopPropagation();
    decrypt(keysIn(input.value), true).catch(fail);
  });
  if (pasted) return;
  const begin = (work: number) => {
    const isWords = work > LINK_WORK;
    find(form, 'label').textContent = word(isWords ? 'words' : 'key');
    const keys = keysAtHand(isWords);
    if (keys.length > 0) return decrypt(keys, 'open' in root.dataset);
    askForKey();
    find(root, '.ask').hidden = !isWords;
    report(root, isWords ? '' : word(hash === '' ? 'missing' : 'broken'));
  };
  passphraseWork(armor()).then(begin).catch(fail).finally(showArmor);
});

/** Maps errors to `data-` texts. A push page has no `data-recipients`, as it shows that text in a note. */
const problems: Partial<Record<AgeError['reason'], string>> = {
  'no-match': 'wrong',
  key: 'recipients',
};

function problemOf(error: unknown): string {
  return (error instanceof AgeError && problems[error.reason]) || 'damaged';
}

/** Returns the words typed on the last page and the key in the address; [] if a link key is needed and missing. */
function keysAtHand(isWords: boolean): readonly string[] {
  const keys = [typedWords, hash].flatMap(keysIn);
  return isWords || keys.some(isLinkKey) ? keys : [];
}

/** Returns the decrypted text; for a manifest, offers its files for download and returns its message. */
function contentOf(root: HTMLElement, text: string, key: string, open: boolean): Node | string {
  if (!root.querySelector('.list')) {
    const name = 'qr' in root.dataset ? 'qr' : isWebAddress(text) ? 'link' : 'text';
    return filled(name, text, open);
  }
  const manifest = manifestIn(text);
  // Without a manifest, the files of the push are not encrypted.
  if (manifest) offerFiles(root, manifest, key);
  const message = manifest ? manifest.message : text;
  return message ? filled('message', message, open) : '';
}

async function decryptedBy(
  keys: readonly string[],
  armor: string,
): Promise<[text: string, key: string]> {
  for (const key of keys)
    try {
      return [await decryptText(armor, key), key];
    } catch (error) {
      if (problemOf(error) !== 'wrong') throw error;
    }
  throw new AgeError('no-match', 'no key decrypts it');
}

/** `qr-page.ts` defines this function; pages that may have a QR code load it. */
declare const drawQr: (into: Element, text: string) => boolean;

type TemplateName = 'text' | 'message' | 'link' | 'qr' | 'long';

/** Fills a template of the page (src/server/page/encrypted.ts) with a secret, under its veil unless `open`. */
function filled(name: TemplateName, text: string, open: boolean): DocumentFragment {
  const { content } = find<HTMLTemplateElement>(document, `template.${name}`);
  const copy = content.cloneNode(true) as DocumentFragment;
  const value = find(copy, '.value');
  value.textContent = text;
  value.classList.toggle('short', text.length <= 40 && !text.includes('\n'));
  if (open) find(copy, '.secret').classList.add('open');
  if (name === 'qr' && !drawQr(find(copy, '.code'), text)) return filled('long', text, open);
  if (name === 'link') fillLink(copy, text);
  return copy;
}

function fillLink(copy: DocumentFragment, text: string): void {
  const url = new URL(text);
  find(copy, '.leads strong').textContent = url.host;
  find<HTMLAnchorElement>(copy, '.go a').href = text;
  find(copy, '.sign-in').hidden = url.username + url.password === '';
  find(copy, '.letters').hidden = !/(^|\.)xn--/.test(url.hostname);
  find(copy, '.plain-http').hidden = url.protocol !== 'http:';
}
