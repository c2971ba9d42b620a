import { keyProof, proofAt } from '../../../age/key-proof';
import { isLinkKey } from '../../../age/link-key';
import { find, report } from './dom';
import { FEWEST_WORDS, keysIn, reportKey } from './keys-in';
import { hashes, scrypt } from './noble';
import { keepWords, takeWords } from './tab-storage';

/*
 * Sends a proof of the key with the form that uses a view of an encrypted secret, and first says whether the link has
 * the key. The key is not sent. The texts are attributes of the form (src/server/page/encrypted.ts).
 */

const typedWords = takeWords();
/** The address of the instance in the link; a proof counts for this address only. */
const base = `${location.origin}${location.pathname}`.replace(/\/[pr]\/[\w-]+(?:\/r)?$/, '');

document.addEventListener('DOMContentLoaded', () => {
  const form = find<HTMLFormElement>(document, 'form.prove');
  const row = find(form, '.key');
  const input = find<HTMLInputElement>(row, '#key');
  const status = find(form, '.status');
  const { salt, busy = '', wrong = '' } = form.dataset;
  /** Whether the service refused the key proof that was sent before. */
  const refused = 'refused' in form.dataset;
  let sending = false;

  const showRow = () => {
    const line = find(document, '#opens');
    row.hidden = reportKey(line) && !refused;
    input.disabled = row.hidden;
    line.hidden = refused;
  };

  const enteredKey = () => {
    if (salt === undefined) return keysIn(row.hidden ? location.hash : input.value).find(isLinkKey);
    const [words = ''] = keysIn(input.value);
    return words.split('-').length < FEWEST_WORDS ? undefined : words;
  };

  const rest = () => {
    sending = false;
    status.textContent = '';
  };

  const send = async (key: string) => {
    const secret = await keyProof({ primitives: hashes, scrypt }, key, salt);
    const proof = secret && proofAt(hashes, secret, base);
    find<HTMLInputElement>(form, '[name=key_proof]').value = proof ?? '';
    if (salt === undefined) history.replaceState(null, '', `#${key}`);
    else keepWords(key);
    // The next page needs the key in the fragment to decrypt the secret.
    if (location.hash) form.action = location.href;
    form.submit();
  };

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (sending) return;
    const key = enteredKey();
    report(form, key === undefined ? wrong : '');
    if (key === undefined) return input.focus();
    sending = true;
    status.textContent = busy;
    send(key).catch(() => {
      rest();
      report(form, wrong);
    });
  });

  // The Back button may show this page in the state that it was left in.
  addEventListener('pageshow', rest);

  if (salt !== undefined) {
    if (!refused) input.value = typedWords;
    return;
  }
  showRow();
  addEventListener('hashchange', showRow);
});
