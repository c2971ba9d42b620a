import { parseUrl, splitHost } from '../../contract/address';
import { type QrDrawing, qrDrawing } from '../../contract/qr-matrix';
import { icon, type View } from './layout';
import { Markup, markup } from './markup';
import type { PhraseKey } from './phrases';

export interface SecretView extends View {
  /** Whether the secret is shown at once, rather than under a veil. */
  readonly open: boolean;
  /** The body of an HTTP request after which the service does not show the secret again. */
  readonly hide?: string | undefined;
}

interface Frame {
  readonly title: PhraseKey;
  /** The label of the veil. */
  readonly show: PhraseKey;
  readonly content: Markup;
  readonly copy?: PhraseKey;
}

/** Returns a secret with its buttons and its veil, all of which need the script. */
function frame(view: SecretView, { title, show, content, copy }: Frame): Markup {
  const { words, open } = view;
  return copyBox(view, {
    classes: open ? 'secret open' : 'secret',
    title,
    button: markup`<button type="button" data-do="hide">${icon('hide')}${words.text('hide')}</button>
`,
    copy,
    box: markup`<div class="box"><div class="content" translate="no">${content}</div>
<button type="button" class="veil" data-do="show"><span>${icon('eye')}${words.text(show)}</span></button></div>`,
  });
}

interface CopyBox {
  readonly classes: string;
  readonly title: PhraseKey;
  /** Another button, beside the one that copies. */
  readonly button?: Markup | false;
  readonly copy?: PhraseKey | undefined;
  readonly box: Markup;
}

/**
 * The button copies the element of class `value` in the box, which has `translate="no"`: browsers must not send a
 * secret to a translation service.
 */
function copyBox(
  { words }: View,
  { classes, title, button = false, copy = 'copy', box }: CopyBox,
): Markup {
  return markup`<div class="${classes}" data-copied="${words.text('copied')}" data-failed="${words.text('copyFailed')}">
<div class="bar"><h2>${words.text(title)}</h2>
${button}<button type="button" class="primary" data-do="copy">${icon('copy')}${icon('check', 'icon done')}${words.text(copy)}</button></div>
${box}
<p class="status" role="status"></p>
</div>
`;
}

/** Shows the link of a new push without a veil, as its maker has to see it. */
export function linkBox(view: View, link: string): Markup {
  const address = addressBox(markup`${link}`, view.words.text('yourLink'));
  const box = markup`<div class="box" translate="no">${address}</div>`;
  return copyBox(view, { classes: 'secret link open', title: 'yourLink', box });
}

/** Returns armor with a link that saves it under a name, even without script. */
export function armorBox(view: View, armor: string, name: string): Markup {
  const { words } = view;
  const href = `data:application/octet-stream;base64,${Buffer.from(armor).toString('base64')}`;
  const button = markup`<a class="button" href="${href}" download="${name}" aria-label="${words.fill('downloadFile', { name })}">${icon('download')}${words.text('download')}</a>
`;
  const text = preformatted(armor, words.text('encryptedSecret'));
  const box = markup`<div class="box" translate="no">${text}</div>`;
  return copyBox(view, { classes: 'secret armor open', title: 'encryptedSecret', button, box });
}

export function note(text: Markup | string): Markup {
  return markup`<p class="note">${icon('alert')}<span>${text}</span></p>
`;
}

/** Texts up to this length are shown large, as they may be passwords that someone types elsewhere. */
const SHORT = 40;

export function textView(view: SecretView, payload: string, isMessage = false): Markup {
  const title = isMessage ? 'message' : 'text';
  const content = preformatted(payload, view.words.text(title));
  const shown = frame(view, { title, show: isMessage ? 'showMessage' : 'showText', content });
  const command = markup`<code>pwpush get</code>`;
  const nulls = view.words.fill('nullCharacters', { sign: '␀', command });
  return markup`${shown}${payload.includes('\0') && note(nulls)}`;
}

export function preformatted(payload: string, label: string): Markup {
  const short = payload.length <= SHORT && !payload.includes('\n');
  // HTML parsers drop this line feed after the tag, and would drop one that begins the payload otherwise.
  return markup`<pre class="${short ? 'value short' : 'value'}" tabindex="0" role="group" aria-label="${label}" dir="auto">
${payload}</pre>`;
}

/**
 * Shows a link in full and left to right, with its host. It opens in a new tab, as coming back to this page would use a
 * view.
 * @param payload an address that `isWebAddress` accepts
 */
export function linkView(view: SecretView, payload: string): Markup {
  const { words } = view;
  const url = new URL(payload);
  const content = linkText(payload, url, words.text('link'));
  return markup`${frame(view, { title: 'link', show: 'showLink', content })}
${leadingTo(view, url.host)}${notes(view, url)}${linkButton(view, payload)}`;
}

function leadingTo({ words }: View, name: string): Markup {
  const host = markup`<strong translate="no">${name}</strong>`;
  return markup`<p class="leads">${words.fill('leadsTo', { host })}</p>
`;
}

function linkButton({ words }: View, address: string): Markup {
  return markup`<p class="go"><a class="button" href="${address}" target="_blank" rel="noreferrer noopener">${icon('open')}${words.text('openInNewTab')}</a></p>
`;
}

function notes(view: View, url: URL): Markup[] {
  const all = linkNotes(view);
  return [
    ...(url.username + url.password === '' ? [] : [all.signIn]),
    ...(/(^|\.)xn--/.test(url.hostname) ? [all.letters] : []),
    ...(url.protocol === 'http:' ? [all.unencrypted] : []),
  ];
}

function linkNotes({ words }: View) {
  const prefix = markup`<code>xn--</code>`;
  return {
    signIn: note(words.text('linkSignIn')),
    letters: note(words.fill('linkLetters', { prefix })),
    unencrypted: note(words.text('linkUnencrypted')),
  };
}

/** Returns a link with all notes, which src/server/page/browser/decrypt-page.ts fills in. */
export function linkTemplate(view: SecretView): Markup {
  const { signIn, letters, unencrypted } = linkNotes(view);
  const content = addressBox(markup``, view.words.text('link'));
  return markup`${frame(view, { title: 'link', show: 'showLink', content })}${leadingTo(view, '')}<div class="sign-in">${signIn}</div><div class="letters">${letters}</div><div class="plain-http">${unencrypted}</div>${linkButton(view, '')}`;
}

/** Shows the host in bold if its place in the link is certain. */
function linkText(payload: string, url: URL, label: string): Markup {
  const [before, host, after] = parts(payload);
  const certain = host !== '' && parseUrl(`http://${host}/`)?.hostname === url.hostname;
  const text = certain ? markup`${before}<strong>${host}</strong>${after}` : markup`${payload}`;
  return addressBox(text, label);
}

function addressBox(text: Markup, label: string): Markup {
  return markup`<p class="address" tabindex="0" role="group" aria-label="${label}"><bdo class="value" dir="ltr">${text}</bdo></p>`;
}

/** Splits an address into the text before the host, the host without its port, and the rest. */
function parts(payload: string): [string, string, string] {
  const [before, withPort] = splitHost(payload);
  const [host = ''] = /^(?:\[[^\]]*\]|[^:]*)/.exec(withPort) ?? [];
  return [before, host, payload.slice(before.length + host.length)];
}

export function qrView(view: SecretView, payload: string): Markup {
  const code = qrCode(payload, view.words.text('qrCode'));
  return code ? qrFrame(view, code, payload) : longView(view, payload);
}

/** Shows a text in place of the QR code for which it is too long. */
export function longView(view: SecretView, payload: string): Markup {
  return markup`${textView(view, payload)}${note(view.words.text('qrTooLong'))}`;
}

export function qrTemplate(view: SecretView): Markup {
  const empty = { size: 0, path: '', dense: false };
  return qrFrame(view, qrPicture(empty, view.words.text('qrCode')), '');
}

function qrFrame(view: SecretView, code: Markup, payload: string): Markup {
  const label = view.words.text('qrText');
  const content = markup`${code}
<details class="plain"><summary>${label}</summary>
${preformatted(payload, label)}
</details>`;
  return frame(view, { title: 'qrCode', show: 'showQrCode', content, copy: 'copyText' });
}

/** Returns undefined for a text that is too long for a QR code. */
export function qrCode(payload: string, label: string): Markup | undefined {
  const drawing = qrDrawing(payload);
  return drawing && qrPicture(drawing, label);
}

/** Draws dark on white in any colour scheme, as some readers do not recognize inverted codes. */
function qrPicture({ size, path, dense }: QrDrawing, label: string): Markup {
  const svg = markup`<svg role="img" aria-label="${label}" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${size}v${size}H0z"/><path fill="#000" d="${new Markup(path)}"/></svg>`;
  return markup`<div class="${dense ? 'code dense' : 'code'}" tabindex="-1">${svg}</div>`;
}
