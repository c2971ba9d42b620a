import { isLinkKey } from '../../../age/link-key';
import { find } from './dom';
import { keysIn } from './keys-in';

// Says on the page of an encrypted secret, before a view is used, whether its link has the key.

document.addEventListener('DOMContentLoaded', () => {
  const line = find(document, '#opens');
  const { found = '', missing = '', damaged = '' } = line.dataset;
  const { hash } = location;
  const has = keysIn(hash).some(isLinkKey);
  line.textContent = has ? found : hash === '' ? missing : damaged;
  if (!has) line.className = 'problem';
});
