import { LINK_TIME } from '../rules/claim';
import { isWebAddress } from '../rules/new-push';
import { viewsRemaining } from '../rules/push-state';
import type { PushRow } from '../store/push-rows';
import { icon, page } from './layout';
import { type Markup, markup } from './markup';
import { clockTime, duration, fact, facts, remaining } from './remaining';
import { linkView, qrView, textView } from './secret-views';

export interface Download {
  readonly name: string;
  readonly size: number;
  readonly url: string;
}

export interface ShownSecret {
  readonly push: PushRow;
  readonly payload: string;
  readonly files: readonly Download[];
}

/** The secret, the views and time left, and a button to delete it where viewers may. */
export function secretPage(secret: ShownSecret, expirable: boolean, now: number): Response {
  const { push, files } = secret;
  const count = files.length;
  const last = viewsRemaining(push) === 0;
  const over = fact('check', 'That was the last view.', count > 0 ? FILES_GO : TEXT_GOES);
  return page(
    'The secret',
    markup`<div class="body">
<h1>${heading(count)}</h1>
<p class="quiet">${advice(count, last)}</p>
${content(secret, now)}</div>
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
  return 'Close this page when you are done. Anyone who sees it sees the secret.';
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

function content({ push, payload, files }: ShownSecret, now: number): Markup {
  if (push.kind === 'file') {
    const message = payload.trim() !== '' && textView(payload, 'Message');
    return markup`${message}${downloadList(files, push, now)}`;
  }
  if (push.kind === 'qr') return qrView(payload);
  if (push.kind === 'url' && isWebAddress(payload)) return linkView(payload);
  return textView(payload);
}

/** The files with a download button each, and until when the buttons work. */
function downloadList(files: readonly Download[], push: PushRow, now: number): Markup {
  const time = Math.min(LINK_TIME, push.expires_at - now);
  return markup`<ul class="files">
${files.map(item)}</ul>
<p>The download buttons work for ${duration(time)}, until ${clockTime(now + time)}. A download that has begun goes on.</p>
`;
}

function item({ name, size, url }: Download): Markup {
  return markup`<li>${icon('file')}<div><bdi class="name" translate="no">${name}</bdi><span class="size">${sizeOf(size)}</span></div>
<a class="button" href="${url}" download="${name}" rel="noreferrer" aria-label="Download ${name}">${icon('download')}Download</a></li>
`;
}

const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

/** `1.5 MiB (1,600,000 bytes)`. */
function sizeOf(size: number): string {
  const exact = `${String(size).replace(/\B(?=(\d{3})+$)/g, ',')} ${size === 1 ? 'byte' : 'bytes'}`;
  if (size < 1024) return exact;
  const power = Math.min(4, Math.floor(Math.log2(size) / 10));
  return `${Number((size / 1024 ** power).toFixed(1))} ${units[power]} (${exact})`;
}
