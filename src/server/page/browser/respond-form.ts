import { pointOf } from '../../../age/bech32';
import { x25519Recipient } from './age-passphrase';
import { find, report } from './dom';
import { type Encrypted, encryptContent } from './encrypt-content';

/*
 * Sends the answer to a secret request, encrypted to the public key in the link. If the link has no key, the service
 * names one, and could name its own: the page then says who could read the answer. The texts are attributes of the form
 * (src/server/requests/request-page.ts).
 */

document.addEventListener('DOMContentLoaded', () => {
  const form = find<HTMLFormElement>(document, '.respond');
  const text = find<HTMLTextAreaElement>(form, '#response');
  const picker = form.querySelector<HTMLInputElement>('#files');
  const button = find<HTMLButtonElement>(form, '.primary');
  const status = find(form, '.status');
  const bar = find<HTMLProgressElement>(form, 'progress');
  const word = (name: string) => form.dataset[name] ?? '';

  const point = showReaders(form, button);

  const show = (done: number, total: number) => {
    bar.hidden = false;
    bar.value = done / total;
  };

  // Disables the form: text and files that are entered after the button was pressed would not be sent.
  const hold = (held: boolean) => {
    for (const control of [text, picker, button]) if (control) control.disabled = held;
  };
  const end = (message: string) => {
    hold(false);
    bar.hidden = true;
    status.textContent = '';
    report(form, message);
  };

  const content = async (files: readonly File[]): Promise<Encrypted> => {
    if (!point) return { text: text.value, files };
    status.textContent = word('busy');
    const total = files.reduce((sum, { size }) => sum + size, 0);
    return encryptContent(text.value, files, x25519Recipient(point), (done) => show(done, total));
  };

  // After a lost response, the same bytes must be sent again, and encrypting again would change them.
  let prepared: { readonly entered: string; readonly body: FormData } | undefined;
  const answer = async () => {
    const files = [...(picker?.files ?? [])];
    if (text.value.trim() === '' && files.length === 0) return end(word('empty'));
    const entered = entryOf(text.value, files);
    if (prepared?.entered !== entered)
      prepared = { entered, body: bodyOf(form, await content(files)) };
    status.textContent = word('sending');
    show(0, 1);
    const { status: code, response } = await send(prepared.body, show);
    if (code !== 200) return end(response?.error ?? word('failed'));
    showSent();
  };

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    event.stopPropagation();
    if (button.disabled) return;
    hold(true);
    report(form, '');
    answer().catch(() => end(word('failed')));
  });
});

function showSent(): void {
  const sent = find<HTMLTemplateElement>(document, 'template.sent').content;
  find(document, 'main').replaceChildren(sent);
  find(document, 'h1').focus();
}

/** Returns a string that changes when the text or the files do. */
function entryOf(text: string, files: readonly File[]): string {
  const listed = files.map(({ name, size, lastModified }) => [name, size, lastModified]);
  return JSON.stringify([text, listed]);
}

/**
 * Shows who can read the answer. If the key is damaged, says so and disables the button, so that nothing is sent.
 * @returns the public key to encrypt to, if there is one
 */
function showReaders(form: HTMLFormElement, button: HTMLButtonElement): Uint8Array | undefined {
  const { hash } = location;
  const { key = '', damaged = '' } = form.dataset;
  const point = pointOf(hash === '' ? key : keyIn(hash));
  const isDamaged = !point && hash + key !== '';
  const shown = hash !== '' ? '.encrypted' : point ? '.server-key' : '.readable';
  for (const note of form.querySelectorAll<HTMLElement>('.encrypted,.server-key,.readable'))
    note.hidden = isDamaged || !note.matches(shown);
  button.disabled = isDamaged;
  if (isDamaged) report(form, damaged);
  return point;
}

/** Returns the key in lower case (links in QR codes are in capitals), without what a mail gateway appended. */
function keyIn(hash: string): string {
  const key = /(?:#|%23)(age1[a-z0-9]{58})(?![a-z0-9])/i.exec(hash)?.[1] ?? '';
  return key.toLowerCase();
}

function bodyOf(form: HTMLFormElement, { text, files }: Encrypted): FormData {
  const body = new FormData();
  for (const { name, value } of form.querySelectorAll<HTMLInputElement>('[type=hidden]'))
    body.set(name, value);
  body.set('request[response]', text);
  for (const file of files) body.append('request[files][]', file);
  return body;
}

/** `fetch` does not report the bytes sent, which `progress` receives. Rejects if the service cannot be reached. */
function send(body: FormData, progress: (done: number, total: number) => void) {
  return new Promise<XMLHttpRequest>((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', location.pathname + location.search);
    request.setRequestHeader('accept', 'application/json');
    request.responseType = 'json';
    request.upload.addEventListener('progress', ({ loaded, total }) => progress(loaded, total));
    request.addEventListener('load', () => resolve(request));
    request.addEventListener('error', reject);
    request.send(body);
  });
}
