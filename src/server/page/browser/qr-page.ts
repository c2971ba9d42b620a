import { qrDrawing } from '../../../contract/qr-matrix';
import { find } from './dom';
import { KEY_ITEM } from './tab-storage';

// QR codes of what the service does not know: of decrypted texts, and of the link of a new push with its key.

/** Draws the code of a text into the picture that the page has for it. */
function drawQr(into: Element, text: string): void {
  const drawing = qrDrawing(text);
  if (!drawing) return;
  const { size, path, dense } = drawing;
  into.classList.toggle('dense', dense);
  find(into, 'svg').setAttribute('viewBox', `0 0 ${size} ${size}`);
  find(into, 'path').setAttribute('d', `M0 0h${size}v${size}H0z`);
  find(into, 'path + path').setAttribute('d', path);
}

Object.assign(globalThis, { drawQr });

document.addEventListener('DOMContentLoaded', () => {
  const made = document.querySelector('.made');
  if (!made) return;
  let key: string | null;
  try {
    key = sessionStorage.getItem(KEY_ITEM);
    // The empty item stays, for this page may be loaded again.
    if (key) sessionStorage.removeItem(KEY_ITEM);
  } catch {
    // The form did not encrypt.
    return;
  }
  // Loading the page again sent the form again, and the key is gone: the link of that push opens nothing.
  if (key === null) {
    made.nextElementSibling?.remove();
    return made.replaceChildren(find<HTMLTemplateElement>(made, 'template').content);
  }
  if (key === '') return;
  const link = find(made, '.value');
  link.textContent += `#${key}`;
  drawQr(find(made, '.code'), link.textContent ?? '');
});
