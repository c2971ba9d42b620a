import { refusalHead } from '../http/responses';
import type { Refusal } from '../refusal';
import { icon, page } from './layout';
import { type Markup, markup } from './markup';
import { retryText } from './remaining';

const titles: Readonly<Record<number, string>> = {
  403: 'This is not allowed',
  413: 'That is too large',
  429: 'Too many requests',
  503: 'The service is busy',
};

/** A refused request, explained to the person at the browser. */
export function refusalPage(refusal: Refusal, now: number): Response {
  const { status, headers } = refusalHead(refusal);
  const again = refusal.retryAfter !== undefined;
  return failure(
    titles[status] ?? 'That did not work',
    markup`<p>${refusal.message}</p>
${
  again &&
  markup`<p>${retryText(refusal, now)}</p>
<p><a class="button" href="">Try again</a></p>`
}`,
    { status, headers },
  );
}

/** An internal error. The cause is in the log only. */
export function errorPage(): Response {
  return failure(
    'Something went wrong',
    markup`<p>The service could not do this. Its log has the reason.</p>`,
    { status: 500 },
  );
}

function failure(title: string, words: Markup, options: Parameters<typeof page>[2]): Response {
  return page(
    title,
    markup`<div class="body">
<div class="badge alarm">${icon('alert')}</div>
<h1>${title}</h1>
${words}
</div>`,
    options,
  );
}

/** The same for a push that has expired and for a token that never existed. */
export function gonePage(): Response {
  return page(
    'Nothing here',
    markup`<div class="body">
<div class="badge">${icon('none')}</div>
<h1>There is nothing here</h1>
<p>This link has expired, was deleted, or never existed. The page does not say which, so that guessing finds nothing out.</p>
<p class="quiet">Ask the sender for a new one. If it came in a message, check that it was copied whole.</p>
</div>`,
    { status: 404 },
  );
}

/** Confirms that the viewer has deleted the push. */
export function deletedPage(): Response {
  return page(
    'Deleted',
    markup`<div class="body">
<div class="badge">${icon('check')}</div>
<h1>The secret is deleted</h1>
<p>Nobody can open the link any more, and nothing of the secret is kept.</p>
<p class="quiet">You can close this page.</p>
</div>`,
  );
}

/** The page at `/`: what this instance is, and how to open or create a push. */
export function frontPage(base: string, anonymous: boolean): Response {
  const command = anonymous ? `pwpush push --url ${base}` : `pwpush login ${base}\npwpush push`;
  return page(
    'Password Pusher',
    markup`<div class="body front">
<h1>Secrets as links that stop working</h1>
<p>This is a Password Pusher instance. It keeps a secret sealed, hands it over by a link, and deletes it after a number of views or days.</p>
<h2>You were sent a link</h2>
<p>Open it as it was given to you. It begins with <code>${base}/p/</code>.</p>
<h2>You want to send a secret</h2>
<p>${anonymous ? 'The program asks for it and prints the link.' : 'Sign in with the token you were given. The program then asks for the secret and prints the link.'}</p>
<pre class="command">${command}</pre>
</div>`,
  );
}
