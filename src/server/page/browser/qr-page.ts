import { qrDrawing } from '../../../contract/qr-matrix';
import { find } from './dom';
import { KEY_ITEM, storage } from './tab-storage';

// Draws QR codes of texts that the service does not know: decrypted secrets, and links of new pushes with their keys.

/** Draws into the empty SVG in `into`; returns false for a text that is too long for a QR code. */
function drawQr(into: Element, text: string): boolean {
  const drawing = qrDrawing(text);
  if (!drawing) return false;
  const { size, path, dense } = drawing;
  into.classList.toggle('dense', dense);
  find(into, 'svg').setAttribute('viewBox', `0 0 ${size} ${size}`);
  find(into, 'path').setAttribute('d', `M0 0h${size}v${size}H0z`);
  find(into, 'path + path').setAttribute('d', path);
  return true;
}

Object.assign(globalThis, { drawQr });

document.addEventListener('DOMContentLoaded', () => {
  const made = document.querySelector('.made');
  if (!made) return;
  const stored = storage();
  // Without session storage, the form offers no encryption, so the link has no key.
  if (!stored) return;
  const key = stored.getItem(KEY_ITEM);
  // An empty item stays, as this page may be loaded again.
  if (key) stored.removeItem(KEY_ITEM);
  // A reload sent the form again after the key was removed; the link without its key opens nothing.
  if (key === null) {
    made.nextElementSibling?.remove();
    return made.replaceChildren(find<HTMLTemplateElement>(made, 'template').content);
  }
  if (key === '') return;
  const link = find(made, '.value');
  link.textContent += `#${key}`;
  drawQr(find(made, '.code'), link.textContent ?? '');
});
