import { isNearKey } from '../../../age/near-key';
import words from '../../../age/words.txt?lines';

/*
 * Keeps the key of an encrypted secret from being sent as a passphrase: a recipient who has only the key may enter it
 * in the passphrase field. The message is an attribute of the field.
 */
document.addEventListener(
  'submit',
  (event) => {
    const form = event.target as HTMLFormElement;
    const field = form.querySelector<HTMLInputElement>('[data-key]');
    const typed = field?.value ?? '';
    if (!field || !isNearKey(typed, words)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    field.setCustomValidity(field.dataset.key ?? '');
    field.reportValidity();
    field.addEventListener('input', () => field.setCustomValidity(''), { once: true });
  },
  true,
);
