import { isWebAddress } from '../creation';
import { daysRemaining, type PushRow, viewsRemaining } from '../pushes';
import { page } from './layout';
import { markup } from './markup';

/** What is asked before a secret is shown: a press of the button, which no link scanner makes, and the passphrase. */
export function askPage(push: PushRow, now: number, problem = '', status = 200): Response {
  const field = markup`<p><label for="passphrase">Passphrase</label>
<input id="passphrase" name="passphrase" type="password" autocomplete="off" required autofocus></p>`;
  return page(
    'A secret was shared with you',
    markup`${problem !== '' && markup`<p role="alert">${problem}</p>`}
<form method="post">
${push.protected === 1 && field}
<p><button>Show the secret</button></p>
</form>
<p>${left(push, now)} Showing it takes one view.</p>`,
    status,
  );
}

export interface Shown {
  readonly push: PushRow;
  readonly payload: string;
  readonly files: readonly { readonly name: string; readonly size: number; readonly url: string }[];
}

/** The secret, what is left of it, and a button to end it where viewers may. */
export function secretPage(shown: Shown, expirable: boolean, now: number): Response {
  const { push, files } = shown;
  const views = viewsRemaining(push);
  const last = files.length > 0 ? LAST_OF_FILES : 'That was the last view: it is deleted.';
  const button = markup`<form method="post">
<p><button name="do" value="expire">Delete it now</button></p>
</form>`;
  return page(
    'The secret',
    markup`${content(shown)}
<p>${views === 0 ? last : left(push, now)}</p>
${views > 0 && expirable && button}`,
  );
}

const LAST_OF_FILES = 'That was the last view: in five minutes the files are deleted.';

function content({ push, payload, files }: Shown) {
  if (push.kind === 'file') return markup`${payload.trim() !== '' && text(payload)}${list(files)}`;
  if (push.kind === 'url' && isWebAddress(payload)) {
    return markup`<p><a href="${payload}" rel="noreferrer noopener">${payload}</a></p>`;
  }
  return text(payload);
}

function text(payload: string) {
  // A parser drops the first line feed of a `pre`, so one is put there to be dropped.
  return markup`<pre tabindex="0">
${payload}</pre>`;
}

function list(files: Shown['files']) {
  const items = files.map(
    ({ name, size, url }) =>
      markup`<li><a href="${url}" download="${name}" rel="noreferrer">${name}</a> (${bytes(size)})</li>
`,
  );
  return markup`<ul>
${items}</ul>
<p>The links work for five minutes.</p>`;
}

function bytes(size: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = size < 1024 ? 0 : Math.min(4, Math.floor(Math.log2(size) / 10));
  return `${Number((size / 1024 ** power).toFixed(1))} ${size === 1 ? 'byte' : units[power]}`;
}

/** The same for a push that has expired and for one that never was. */
export function gonePage(): Response {
  return page(
    'Nothing here',
    markup`<p>This link has expired, or never was. Ask whoever sent it for a new one.</p>`,
    404,
  );
}

export function endedPage(): Response {
  return page('Deleted', markup`<p>The secret is deleted. The link works no more.</p>`);
}

function left(push: PushRow, now: number): string {
  const views = amount(viewsRemaining(push), 'view');
  return `${views} and ${amount(daysRemaining(push, now), 'day')} left.`;
}

function amount(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
