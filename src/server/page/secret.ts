import { isWebAddress } from '../rules/new-push';
import { viewsRemaining } from '../rules/push-state';
import type { PushRow } from '../store/push-rows';
import { downloadList, type ShownFile } from './downloads';
import { page } from './layout';
import { type Markup, markup } from './markup';
import { qrView } from './qr-push';
import { fact, facts, remaining } from './remaining';
import { textView } from './text-push';
import { linkView } from './url-push';

export interface Shown {
  readonly push: PushRow;
  readonly payload: string;
  readonly files: readonly ShownFile[];
}

/** The secret, what is left of it, and a button to end it where viewers may. */
export function secretPage(shown: Shown, expirable: boolean, now: number): Response {
  const { push, files } = shown;
  const count = files.length;
  const last = viewsRemaining(push) === 0;
  const over = fact('check', 'That was the last view.', count > 0 ? FILES_GO : TEXT_GOES);
  return page(
    'The secret',
    markup`<div class="body">
<h1>${heading(count)}</h1>
<p class="quiet">${advice(count, last)}</p>
${content(shown, now)}</div>
<div class="foot">
${last ? facts(over) : remaining(push, now, 'Loading this page again takes one.')}
${!last && expirable && deletion}
</div>`,
    { shape: 'broad' },
  );
}

function heading(files: number): string {
  if (files === 0) return 'The secret';
  return files === 1 ? 'A file was shared with you' : 'Files were shared with you';
}

function advice(files: number, last: boolean): string {
  if (files > 0) return `Save ${files === 1 ? 'it' : 'them'} before you leave this page.`;
  if (last) return 'Keep it in a safe place before you leave this page.';
  return 'Close this page when you are done. Whoever sees it sees the secret.';
}

const TEXT_GOES =
  'The secret is deleted. This page is the only copy, and it cannot be loaded again.';
const FILES_GO = 'This page cannot be loaded again. What it offers is deleted when the time is up.';

const deletion = markup`<details class="delete"><summary>Delete the secret now</summary>
<form method="post">
<p>Nobody will be able to open the link any more. This cannot be undone.</p>
<button name="do" value="expire">Delete it for everyone</button>
</form>
</details>`;

function content({ push, payload, files }: Shown, now: number): Markup {
  if (push.kind === 'file') {
    const message = payload.trim() !== '' && textView(payload, 'Message');
    return markup`${message}${downloadList(files, push, now)}`;
  }
  if (push.kind === 'qr') return qrView(payload);
  if (push.kind === 'url' && isWebAddress(payload)) return linkView(payload);
  return textView(payload);
}
