import { AgeError } from '../../../age/age-error';
import { LINK_WORK } from '../../../age/format/stanzas';
import { decryptText, keysIn, passphraseWork } from './age-passphrase';
import { manifestIn, offerFiles } from './decrypted-files';
import { find } from './dom';
import { filled, templateFor } from './fill-template';

/*
 * Decrypts the secret of a page, or what is pasted at /open. Its words are attributes of the page
 * (src/server/page/encrypted.ts). The key is not sent and not stored.
 */

// Taken out of the address before anything is drawn: what the browser notes of the page from now on is without it.
const { hash } = location;
const showHash = (shown: string) =>
  history.replaceState(null, '', location.pathname + location.search + shown);
if (hash !== '') showHash('');

document.addEventListener('DOMContentLoaded', () => {
  const root = find(document, '.encrypted');
  const form = find(root, 'form');
  const input = find<HTMLInputElement>(root, '#key');
  const problem = find(root, '.problem');
  const status = find(root, '.status');
  const list = root.querySelector<HTMLElement>('.list');
  /** At /open only. */
  const pasted = root.querySelector<HTMLTextAreaElement>('#armor');
  const word = (name: string) => root.dataset[name] ?? '';
  const armor = () => pasted?.value ?? find(root, '.sealed .value').textContent;

  const say = (text: string) => {
    problem.hidden = text === '';
    find(problem, 'span').textContent = text;
  };

  const ask = (text: string) => {
    form.hidden = false;
    input.focus();
    say(text);
  };

  const fail = (error: unknown) => {
    // For another try, here or elsewhere.
    if (!pasted) showHash(hash);
    const reason = error instanceof AgeError ? error.reason : undefined;
    if (reason === 'no-match') {
      input.setAttribute('aria-invalid', 'true');
      return ask(word('wrong'));
    }
    root.classList.add('failed');
    say(word(reason === 'key' ? 'recipients' : 'damaged'));
  };

  const decrypt = async (keys: readonly string[], open: boolean) => {
    say('');
    find(root, '.opened').replaceChildren();
    status.textContent = word('busy');
    try {
      const [text, key] = await decryptedBy(keys, armor());
      find(root, '.opened').append(content(text, key, open));
      input.removeAttribute('aria-invalid');
      form.hidden = !pasted;
      input.value = '';
      showHash('');
    } catch (error) {
      fail(error);
    }
    status.textContent = '';
  };

  const content = (text: string, key: string, open: boolean): Node => {
    if (!list) return filled('qr' in root.dataset ? 'qr' : templateFor(text), text, open);
    list.classList.add('decrypted');
    const manifest = manifestIn(text);
    const report = (error: unknown) => {
      const unread = error instanceof AgeError ? 'damaged' : 'expired';
      say(error === undefined ? '' : word(unread));
    };
    // Files that came with another text than a manifest are not encrypted.
    if (manifest) offerFiles(list, manifest, key, word('download'), report);
    const message = manifest ? manifest.message : text;
    return message ? filled('message', message, open) : new Text();
  };

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    // Nothing is sent.
    event.stopPropagation();
    decrypt(keysIn(input.value), true);
  });

  if (pasted) return;
  const start = async () => {
    const isWords = (await passphraseWork(armor())) > LINK_WORK;
    find(form, 'label').textContent = word(isWords ? 'words' : 'key');
    const keys = keysIn(hash);
    if (keys.length > 0) decrypt(keys, 'open' in root.dataset);
    else {
      ask(isWords ? '' : word('missing'));
      find(root, '.ask').hidden = !isWords;
    }
  };
  start().catch(fail);
});

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
