import { isWebAddress } from './creation';
import { page } from './layout';
import { markup } from './markup';
import { daysRemaining, type PushRow, viewsRemaining } from './pushes';

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

/** The secret, what is left of it, and a button to end it where viewers may. */
export function secretPage(
  push: PushRow,
  payload: string,
  expirable: boolean,
  now: number,
): Response {
  const views = viewsRemaining(push);
  const button = markup`<form method="post">
<p><button name="do" value="expire">Delete it now</button></p>
</form>`;
  return page(
    'The secret',
    markup`${content(push, payload)}
<p>${views === 0 ? 'That was the last view: it is deleted.' : left(push, now)}</p>
${views > 0 && expirable && button}`,
  );
}

function content(push: PushRow, payload: string) {
  if (push.kind === 'url' && isWebAddress(payload)) {
    return markup`<p><a href="${payload}" rel="noreferrer noopener">${payload}</a></p>`;
  }
  // A parser drops the first line feed of a `pre`, so one is put there to be dropped.
  return markup`<pre tabindex="0">
${payload}</pre>`;
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
