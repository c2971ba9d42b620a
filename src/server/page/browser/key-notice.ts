import { find } from './dom';
import { reportKey } from './keys-in';

// Says on the page of an encrypted secret, before a view is used, whether its link has the key.

document.addEventListener('DOMContentLoaded', () => reportKey(find(document, '#opens')));
