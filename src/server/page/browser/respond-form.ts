import { pointOf } from '../../../age/bech32';
import { x25519Recipient } from './age-passphrase';
import { find } from './dom';
import { type Encrypted, encryptContent } from './encrypt-content';

/*
 * Sends the answer to a request, encrypted to the public key in the link. The service says that key too, for links
 * without it, but could say another one, and so the page says who could read the answer then. Its words are attributes
 * of the form (src/server/page/request-page.ts).
 */

document.addEventListener('DOMContentLoaded', () => {
  const form = find<HTMLFormElement>(document, '.respond');
  const text = find<HTMLTextAreaElement>(form, '#response');
  const picker = form.querySelector<HTMLInputElement>('#files');
  const button = find<HTMLButtonElement>(form, '.primary');
  const problem = find(form, '.problem');
  const status = find(form, '.status');
  const bar = find<HTMLProgressElement>(form, 'progress');
  const word = (name: string) => form.dataset[name] ?? '';

  const { hash } = location;
  // What a mail gateway appended to the link is not part of the key.
  const linked = /(?:#|%23)(age1[a-z0-9]{58})(?![a-z0-9])/.exec(hash)?.[1];
  const point = pointOf(hash === '' ? word('key') : (linked ?? ''));

  const say = (message: string) => {
    problem.hidden = message === '';
    find(problem, 'span').textContent = message;
  };

  const show = (done: number, total: number) => {
    bar.hidden = false;
    bar.value = done / total;
  };

  // What is entered or chosen after the button was pressed would not be sent.
  const hold = (held: boolean) => {
    for (const one of [text, picker, button]) if (one) one.disabled = held;
  };
  const end = (message: string) => {
    hold(false);
    bar.hidden = true;
    status.textContent = '';
    say(message);
  };

  const sent = () => {
    const done = find<HTMLTemplateElement>(document, 'template.sent').content;
    find(document, 'main').replaceChildren(done);
    find(document, 'h1').focus();
  };

  const send = (body: FormData) => {
    const request = new XMLHttpRequest();
    request.open('POST', location.pathname + location.search);
    request.setRequestHeader('accept', 'application/json');
    request.responseType = 'json';
    request.upload.addEventListener('progress', ({ loaded, total }) => show(loaded, total));
    request.addEventListener('load', () => {
      if (request.status === 200) return sent();
      end(request.response?.error ?? word('failed'));
    });
    request.addEventListener('error', () => end(word('failed')));
    status.textContent = word('sending');
    show(0, 1);
    request.send(body);
  };

  const answer = async () => {
    const files = [...(picker?.files ?? [])];
    if (text.value.trim() === '' && files.length === 0) return end(word('empty'));
    let content: Encrypted = { text: text.value, files };
    if (point) {
      status.textContent = word('busy');
      const total = files.reduce((sum, { size }) => sum + size, 0);
      content = await encryptContent(text.value, files, x25519Recipient(point), (bytes) =>
        show(bytes, total),
      );
    }
    const body = new FormData();
    const passphrase = form.querySelector<HTMLInputElement>('[type=hidden]');
    if (passphrase) body.set(passphrase.name, passphrase.value);
    body.set('request[response]', content.text);
    for (const file of content.files) body.append('request[files][]', file);
    send(body);
  };

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    event.stopPropagation();
    if (button.disabled) return;
    hold(true);
    say('');
    answer().catch(() => end(word('failed')));
  });

  const note = hash === '' ? (point ? '.server-key' : '.readable') : '.encrypted';
  const isDamaged = !point && (hash !== '' || word('key') !== '');
  for (const one of form.querySelectorAll<HTMLElement>('.encrypted,.server-key,.readable'))
    one.hidden = isDamaged || !one.matches(note);
  if (isDamaged) {
    // Nothing could be encrypted.
    button.disabled = true;
    say(word('damaged'));
  }
});
