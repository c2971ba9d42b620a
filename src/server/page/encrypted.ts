import { recipientKinds } from '../../age/sealed-with';
import type { PushRow } from '../store/push-rows';
import decryptScript from './browser/decrypt-page.ts?script';
import encryptScript from './browser/encrypt-form.ts?script';
import noticeScript from './browser/key-notice.ts?script';
import proveScript from './browser/prove-key.ts?script';
import qrScript from './browser/qr-page.ts?script';
import style from './encrypted.css?raw';
import { secretRow, textRow } from './form-rows';
import { icon, PagePart, type View } from './layout';
import { type Markup, markup } from './markup';
import { commandFor } from './plain';
import {
  armorBox,
  linkTemplate,
  longView,
  note,
  qrTemplate,
  type SecretView,
  textView,
} from './secret-views';

/*
 * Pages of secrets that were encrypted before they were sent (docs/encryption.md), so that the service cannot read
 * them. Scripts decrypt them in the browser; without script, the page shows the armor and the command that opens it.
 */

export const styling = new PagePart('style', style);
export const decrypting = [styling, new PagePart('script', decryptScript)];
const proving = [new PagePart('script', proveScript)];
export const encrypting = [styling, new PagePart('script', encryptScript)];
export const drawing = [new PagePart('script', qrScript)];

/** Tells a recipient, before a view is used, who cannot read an encrypted secret and what opens it. */
export function sealedNotice({ words }: View, push: PushRow, base: string) {
  const { sealed_with: opener, key_proof } = push;
  if (opener === null) return { notice: false, parts: [] } as const;
  const how = commandFor(push, base);
  const opens = {
    link: markup`<p class="quiet scripted-only" data-found="${words.text('keyInLink')}" data-missing="${words.text('keyMissing')}" data-damaged="${words.text('keyDamaged')}" id="opens">${icon('alert')}<span></span></p>
`,
    words: markup`<p class="quiet">${words.text('keyWordsNeeded')}</p>
`,
    recipient: markup`${note(words.text('toPublicKey'))}<p class="quiet">${words.text('cliTitle')}: ${command(how)}</p>
`,
  };
  const notice = markup`<p class="quiet">${words.text('endToEnd')}</p>
${opens[opener]}${opener !== 'recipient' && noScript(words, how)}`;
  const script = opener === 'link' ? [new PagePart('script', noticeScript)] : [];
  return { notice, parts: [styling, ...(key_proof === null ? script : proving)] };
}

/** The script fills in the proof, and asks for the key if the link has none. */
export function proofFields(view: View, { key_salt, protected: locked }: PushRow): Markup {
  const isWords = key_salt !== null;
  const label = isWords ? 'keyWords' : 'wholeLink';
  const focused = isWords && !locked;
  return markup`<div class="key">${secretRow(view, { id: 'key', label, focused })}</div>
${progressOf(false)}
<input type="hidden" name="key_proof">`;
}

export function provingForm({ words }: View, { key_salt }: PushRow, refused: boolean): Markup {
  const salt =
    key_salt !== null && markup` data-salt="${key_salt}" data-busy="${words.text('decrypting')}"`;
  return markup` class="prove scripted-only" data-wrong="${words.text('keyWrong')}"${salt}${refused && ' data-refused'}`;
}

interface EncryptedSecret {
  readonly armor: string;
  readonly isQr: boolean;
  /** The download buttons of a push with files. */
  readonly list: Markup | false;
}

/** Returns armor, with the elements and texts by which `decrypt-page.ts` shows its content. */
export function encryptedView(view: SecretView, { armor, isQr, list }: EncryptedSecret): Markup {
  const { words, open } = view;
  const missing = markup` data-missing="${words.text('keyMissing')}" data-broken="${words.text('keyDamaged')}"`;
  const shown = markup`${missing}${open && ' data-open'}${isQr && ' data-qr'}`;
  return markup`<div class="encrypted"${scriptWords(view)}${shown}>
${progress}
<form autocomplete="off" hidden>
<p class="quiet ask" hidden>${words.text('enterKeyWords')}</p>
${keyField(view)}
</form>
${sealedView(view, armor, list !== false)}
<div class="opened"></div>
${list && markup`<div class="list">${list}</div>`}
${list ? template('message', textView(view, '', true)) : isQr ? qrTemplates(view) : plainTemplates(view)}
</div>`;
}

/** Returns the form at `/open`, into which a user pastes armor. */
export function pasteView(view: SecretView): Markup {
  const { words } = view;
  const recipients = markup` data-recipients="${words.text('toPublicKey')} ${words.text('cliTitle')}: age -d -i YOUR_KEY ${SAVED}"`;
  const attributes = markup` rows="8" required`;
  return markup`<div class="encrypted"${scriptWords(view)}${recipients}>
${noScript(words, `age -d ${SAVED}`)}<form class="scripted-only" autocomplete="off">
${textRow(view, { id: 'armor', label: 'encryptedSecret', attributes })}
${keyField(view)}
</form>
${progress}
<div class="opened"></div>
${plainTemplates(view)}
</div>`;
}

/** The name under which a page saves armor. */
const SAVED = 'secret.age';

/** Shows the armor, and the command that opens it and its files once they are saved. */
function sealedView(view: View, armor: string, hasFiles: boolean): Markup {
  const { words } = view;
  const kinds = recipientKinds(armor);
  const isToKey = kinds.length > 0;
  const identity = isToKey && '-i YOUR_KEY ';
  const opener = markup`${hasFiles ? 'pwpush get' : 'age -d'} ${identity}${hasFiles && '--from-file '}${SAVED}`;
  const file = command('YOUR_KEY');
  const sshKeys = kinds.filter((kind) => kind.startsWith('ssh-'));
  const path = command(sshKeys.map((kind) => kind.replace('ssh-', '~/.ssh/id_')).join(', '));
  const yours =
    sshKeys.length < kinds.length
      ? words.fill('yourKey', { file, key: command(kinds.join(', ')) })
      : words.fill('yourSshKey', { file, path });
  return markup`<div class="sealed">
${isToKey && note(words.text('toPublicKey'))}${armorBox(view, armor, SAVED)}
<p class="${isToKey ? 'quiet' : 'quiet scripted-only'}">${words.text('cliTitle')}: ${command(opener)}</p>
${isToKey ? markup`<p class="quiet">${yours}</p>` : noScript(words, opener)}
</div>`;
}

function noScript(words: View['words'], opener: Markup | string): Markup {
  return markup`<p class="quiet unscripted">${words.fill('decryptNoScript', { command: command(opener) })}</p>
`;
}

const progress = progressOf(markup` id="problem"`);

function progressOf(attributes: Markup | false): Markup {
  return markup`<p class="problem"${attributes} role="alert" hidden>${icon('alert')}<span></span></p>
<p class="quiet status" role="status"></p>`;
}

function scriptWords({ words }: View): Markup {
  return markup` data-busy="${words.text('decrypting')}" data-wrong="${words.text('keyWrong')}" data-damaged="${words.text('secretDamaged')}" data-expired="${words.text('downloadsExpired')}" data-words="${words.text('keyWords')}" data-key="${words.text('key')}" data-download="${words.text('downloadFile')}"`;
}

function keyField(view: View): Markup {
  const { words } = view;
  const attributes = markup` aria-describedby="problem"`;
  return markup`${secretRow(view, { id: 'key', label: 'key', attributes })}
<button class="primary wide">${icon('unlocked')}${words.text('decrypt')}</button>`;
}

function plainTemplates(view: SecretView): Markup {
  return markup`${template('text', textView(view, ''))}${template('link', linkTemplate(view))}`;
}

function qrTemplates(view: SecretView): Markup {
  return markup`${template('qr', qrTemplate(view))}${template('long', longView(view, ''))}`;
}

function template(name: string, content: Markup): Markup {
  return markup`<template class="${name}">${content}</template>`;
}

function command(text: Markup | string): Markup {
  return markup`<code translate="no">${text}</code>`;
}
