import { isArmored } from '../../age/sealed-with';
import { isWebAddress } from '../../contract/address';
import { decrypting, drawing, encryptedView, pasteView } from '../page/encrypted';
import { fact, facts, heading, icon, page, remaining, type View } from '../page/layout';
import { type Markup, markup } from '../page/markup';
import { linkView, qrView, type SecretView, textView } from '../page/secret-views';
import { LINK_TIME, viewsRemaining } from '../rules/access';
import type { PushRow } from '../store/push-rows';

export interface Download {
  readonly name: string;
  readonly size: number;
  readonly url: string;
}

interface ShownSecret {
  readonly push: PushRow;
  readonly payload: string;
  readonly files: readonly Download[];
  /** The form to delete the push sends this key; undefined if viewers may not delete the push. */
  readonly deletionKey: string | undefined;
}

export function secretPage(view: SecretView, secret: ShownSecret): Response {
  const { words } = view;
  const { push, files, deletionKey } = secret;
  const count = files.length;
  const last = viewsRemaining(push) === 0;
  const title = count === 0 ? words.text('secretTitle') : words.count('filesTitle', count);
  const isEncrypted = isArmored(secret.payload);
  const isKept = last || push.sealed_with === 'recipient';
  const over = words.text(ofFiles(count, 'lastViewFile') ?? 'lastViewText');
  const left = last
    ? facts(fact('check', words.text('lastView'), over))
    : remaining(view, push, words.text('reloadingUsesOne'));
  return page(
    view,
    words.text('secretTitle'),
    markup`<div class="body" data-once${view.hide !== undefined && markup` data-hide="${view.hide}"`}>
${heading(count > 0 ? 'file' : 'unlocked', title)}
<p class="quiet">${words.text(ofFiles(count, 'saveFile') ?? (isKept ? 'keepSafe' : 'closeWhenDone'))}</p>
${content(view, secret)}</div>
<div class="foot">
${left}
${!last && deletionKey !== undefined && deletion(view, deletionKey)}
</div>`,
    {
      parts: isEncrypted ? [...decrypting, ...(push.kind === 'qr' ? drawing : [])] : [],
      unstored: last,
      fetches: view.hide !== undefined || (isEncrypted && count > 0),
    },
  );
}

/** Returns the phrase for one file, or for several; undefined for none. */
function ofFiles<Key extends 'saveFile' | 'lastViewFile'>(count: number, one: Key) {
  return count === 0 ? undefined : count === 1 ? one : (`${one}s` as const);
}

/** Returns a page on which the browser decrypts a pasted text, such as a push of another instance. */
export function openPage(view: View): Response {
  const title = view.words.text('openTitle');
  const main = markup`<div class="body" data-once>
${heading('lock', title)}
<p class="quiet">${view.words.text('openText')}</p>
${pasteView({ ...view, open: true })}</div>`;
  return page(view, title, main, { parts: decrypting, unstored: true });
}

function deletion({ words }: View, key: string): Markup {
  return markup`<details class="delete"><summary>${icon('trash')}${words.text('deleteSecret')}</summary>
<form method="post"><input type="hidden" name="seen" value="${key}">
<p>${words.text('deleteWarning')}</p>
<button name="do" value="expire">${words.text('deleteForEveryone')}</button>
</form>
</details>`;
}

function content(view: SecretView, { push, payload, files }: ShownSecret): Markup {
  if (isArmored(payload)) {
    const list = push.kind === 'file' && downloads(view, files, push);
    return encryptedView(view, { armor: payload, isQr: push.kind === 'qr', list });
  }
  if (push.kind === 'file') {
    const message = payload.trim() !== '' && textView(view, payload, true);
    return markup`${message}${downloads(view, files, push)}`;
  }
  if (push.kind === 'qr') return qrView(view, payload);
  if (push.kind === 'url' && isWebAddress(payload)) return linkView(view, payload);
  return textView(view, payload);
}

/** Lists the files with download buttons. The script of the page counts down until their links expire. */
export function downloads(view: View, files: readonly Download[], push: PushRow): Markup {
  const { words, now } = view;
  const isFinal = push.kind === 'request' || viewsRemaining(push) === 0;
  const over = isFinal ? 'downloadsExpired' : 'downloadsExpiredReload';
  const time = Math.min(LINK_TIME, push.expires_at - now);
  const all = markup`<p><button type="button" class="all" data-do="all">${icon('download')}${words.text('downloadAll')}</button></p>
`;
  return markup`<ul class="files">
${files.map((file) => item(view, file))}</ul>
${files.length > 1 && all}<p class="left" data-left="${time}" data-words="${words.text('downloadsLeft')}" data-over="${words.text(over)}">${words.fill('downloadsUntil', { time: words.clockTime(now + time) })}</p>
`;
}

function item({ words }: View, { name, size, url }: Download): Markup {
  return markup`<li>${icon('file')}<div><span class="name" translate="no"><bdi>${name}</bdi></span><span class="size">${words.size(size)}</span></div>
<a class="button" href="${url}" download="${name}" rel="noreferrer" aria-label="${words.fill('downloadFile', { name })}">${icon('download')}${words.text('download')}</a></li>
`;
}
