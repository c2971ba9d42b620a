import { find } from './dom';

/** Draws a QR code into an element: of `qr-page.ts`, in pages that have one. */
declare const drawQr: (into: Element, text: string) => void;

export type TemplateName = 'text' | 'message' | 'link' | 'qr';

/** The template for a text: links are recognized, as encryption leaves a push no kind of its own for them. */
export function templateFor(text: string): TemplateName {
  return addressIn(text) ? 'link' : 'text';
}

function addressIn(text: string): URL | undefined {
  if (!/^https?:\/\/\S+$/i.test(text)) return undefined;
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/** A secret from a template of the page (src/server/page/encrypted.ts), under its veil unless `open`. */
export function filled(name: TemplateName, text: string, open: boolean): DocumentFragment {
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
