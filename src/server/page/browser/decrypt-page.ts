import { AgeError } from '../../../age/age-error';
import { isLinkKey, LINK_WORK } from '../../../age/link-key';
import { parseUrl } from '../../../contract/address';
import { decryptText, passphraseWork } from './age-passphrase';
import { manifestIn, offerFiles } from './decrypted-files';
import { find, say } from './dom';
import { keysIn } from './keys-in';
import { takeWords } from './tab-storage';

/*
 * Decrypts the secret of a page, or what is pasted at /open. Its words are attributes of the page
 * (src/server/page/encrypted.ts). The key is not sent and not stored.
 */

// Taken out of the address before anything is drawn: what the browser notes of the page from now on is without it.
const { hash } = location;
const kept = takeWords();
const showHash = (shown: string) =>
  history.replaceState(null, '', location.pathname + location.search + shown);
if (hash !== '') showHash('');
// The armor and the files as they came are hidden only while they may still be decrypted.
const { classList } = document.documentElement;
classList.add('decrypting');

document.addEventListener('DOMContentLoaded', () => {
  const root = find(document, '.encrypted');
  const form = find(root, 'form');
  const input = find<HTMLInputElement>(root, '#key');
  const status = find(root, '.status');
  /** At /open only. */
  const pasted = root.querySelector<HTMLTextAreaElement>('#armor');
  const word = (name: string) => root.dataset[name] ?? '';
  const armor = () => pasted?.value ?? find(root, '.sealed .value').textContent;

  const ask = (text: string) => {
    form.hidden = false;
    input.focus();
    say(root, text);
  };

  const fail = (error: unknown) => {
    // For another try, here or elsewhere.
    if (!pasted) showHash(hash);
    const reason = error instanceof AgeError ? error.reason : undefined;
    if (reason === 'no-match') {
      input.setAttribute('aria-invalid', 'true');
      return ask(word('wrong'));
    }
    // The page of a push to public keys says so itself.
    say(root, word(reason === 'key' ? 'recipients' : 'damaged'));
  };

  const decrypt = async (keys: readonly string[], open: boolean) => {
    say(root, '');
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
    } catch (error) {
      fail(error);
    }
    status.textContent = '';
  };

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    // Nothing is sent.
    event.stopPropagation();
    decrypt(keysIn(input.value), true);
  });

  if (pasted) return;
  const begin = (work: number) => {
    const isWords = work > LINK_WORK;
    find(form, 'label').textContent = word(isWords ? 'words' : 'key');
    const keys = [...keysIn(kept), ...keysIn(hash)];
    const hasKey = isWords ? keys.length > 0 : keys.some(isLinkKey);
    if (hasKey) return decrypt(keys, 'open' in root.dataset);
    ask(isWords ? '' : word(hash === '' ? 'missing' : 'broken'));
    find(root, '.ask').hidden = !isWords;
  };
  const shown = () => classList.remove('decrypting');
  passphraseWork(armor()).then(begin).catch(fail).finally(shown);
});

/** The decrypted text, or the message of decrypted files, whose downloads it offers. */
function contentOf(root: HTMLElement, text: string, key: string, open: boolean): Node {
  const list = root.querySelector<HTMLElement>('.list');
  if (!list && 'qr' in root.dataset) return filled('qr', text, open);
  if (!list) return filled(addressIn(text) ? 'link' : 'text', text, open);
  const manifest = manifestIn(text);
  const { damaged = '', expired = '', download = '' } = root.dataset;
  const report = (error: unknown) => {
    const unread = error instanceof AgeError ? damaged : expired;
    say(root, error === undefined ? '' : unread);
  };
  // Files that came with another text than a manifest are not encrypted.
  if (manifest) offerFiles(list, manifest, key, download, report);
  const message = manifest ? manifest.message : text;
  return message ? filled('message', message, open) : new Text();
}

async function decryptedBy(
  keys: readonly string[],
  armor: string,
): Promise<[text: string, key: string]> {
  for (const key of keys)
    try {
      return [await decryptText(armor, key), key];
    } catch (error) {
      if (!(error instanceof AgeError && error.reason === 'no-match')) throw error;
    }
  throw new AgeError('no-match', 'no key decrypts it');
}

/** Draws a QR code into an element: of `qr-page.ts`, in pages that have one. */
declare const drawQr: (into: Element, text: string) => void;

type TemplateName = 'text' | 'message' | 'link' | 'qr';

/** The link that a text is: encryption leaves a push no kind of its own for links. */
function addressIn(text: string): URL | undefined {
  return /^https?:\/\/\S+$/i.test(text) ? parseUrl(text) : undefined;
}

/** A secret from a template of the page (src/server/page/encrypted.ts), under its veil unless `open`. */
function filled(name: TemplateName, text: string, open: boolean): DocumentFragment {
  const { content } = find<HTMLTemplateElement>(document, `template.${name}`);
  const copy = content.cloneNode(true) as DocumentFragment;
  const value = find(copy, '.value');
  value.textContent = text;
  value.classList.toggle('short', text.length <= 40 && !text.includes('\n'));
  if (open) find(copy, '.secret').classList.add('open');
  if (name === 'qr') drawQr(find(copy, '.code'), text);
  const url = name === 'link' && addressIn(text);
  if (url) fillLink(copy, url, text);
  return copy;
}

function fillLink(copy: DocumentFragment, url: URL, text: string): void {
  find(copy, '.leads strong').textContent = url.host;
  find<HTMLAnchorElement>(copy, '.go a').href = text;
  find(copy, '.sign-in').hidden = url.username + url.password === '';
  find(copy, '.letters').hidden = !/(^|\.)xn--/.test(url.hostname);
  find(copy, '.plain-http').hidden = url.protocol !== 'http:';
}
