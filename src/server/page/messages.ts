import { refusalHead } from '../http/responses';
import { viewsRemaining } from '../rules/access';
import { Refusal } from '../service-errors';
import type { PushRow } from '../store/push-rows';
import { icon, type Markup, markup, type PageOptions, page, remaining, retryText } from './layout';

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

function failure(title: string, words: Markup, options: PageOptions): Response {
  return page(title, message(icon('alert'), title, words, 'badge alarm'), options);
}

/** The same for a push that has expired and for a token that never existed. */
export function gonePage(): Response {
  const words = markup`<p>This link has expired, was deleted, or never existed. The page does not say which, so that guessing finds nothing out.</p>
<p class="quiet">Ask the sender for a new one. If it came in a message, check that it was copied whole.</p>`;
  const main = message(icon('none'), 'There is nothing here', words);
  return page('Nothing here', main, { status: 404 });
}

export function deletedPage(): Response {
  const words = markup`<p>Nobody can open the link any more, and nothing of the secret is kept.</p>
<p class="quiet">You can close this page.</p>`;
  return page('Deleted', message(icon('check'), 'The secret is deleted', words));
}

function message(sign: Markup, heading: string, words: Markup, badge = 'badge'): Markup {
  return markup`<div class="body">
<div class="${badge}">${sign}</div>
<h1>${heading}</h1>
${words}
</div>`;
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

/** Asks for the passphrase and to press a button before a view is taken: link scanners press no buttons. */
export function passphrasePage(push: PushRow, now: number, problem?: PassphraseProblem): Response {
  const locked = push.protected === 1;
  return page(
    'A secret was shared with you',
    markup`<div class="body">
<div class="badge">${icon('lock')}</div>
<h1>A secret was shared with you</h1>
<p class="quiet">${locked ? LOCKED : 'It stays closed until you press the button.'}</p>
${problem !== undefined && markup`<p class="problem" id="problem" role="alert">${icon('alert')}<span>${problem.words}</span></p>`}
<form method="post" autocomplete="off">
${locked && field(problem)}
<button class="primary wide">${icon('eye')}Show the secret</button>
</form>
</div>
<div class="foot">
${remaining(push, now, viewsRemaining(push) === 1 ? ONLY_VIEW : 'Showing the secret takes one.')}
</div>`,
    { status: problem?.status, headers: problem?.headers ?? {} },
  );
}

const LOCKED =
  'It opens with the passphrase that the sender gave you, perhaps by phone or in another message.';
const ONLY_VIEW = 'Showing the secret takes it, so have a place ready to keep it.';

function field(problem: PassphraseProblem | undefined) {
  const wrong = problem !== undefined && markup` aria-invalid="true" aria-describedby="problem"`;
  return markup`<label for="passphrase">Passphrase</label>
<input id="passphrase" name="passphrase" type="password" autocomplete="off" required autofocus${wrong}>`;
}

export interface PassphraseProblem {
  readonly words: Markup | string;
  readonly status: number;
  readonly headers: Record<string, string>;
}

/** The problem with the passphrase, or with the number of attempts; undefined for any other error. */
export function passphraseProblem(
  error: unknown,
  given: boolean,
  now: number,
): PassphraseProblem | undefined {
  if (!(error instanceof Refusal)) return undefined;
  const head = refusalHead(error);
  if (error.kind === 'too_many') {
    return { ...head, words: markup`There were too many tries. ${retryText(error, now)}` };
  }
  if (error.kind !== 'passphrase') return undefined;
  if (!given) return { ...head, words: 'This secret needs its passphrase.' };
  return { ...head, words: `That passphrase is not right. ${triesLeft(error.triesLeft)}`.trim() };
}

function triesLeft(tries: number | undefined): string {
  if (tries === undefined) return '';
  if (tries === 0) return 'Wait a minute before you try again.';
  return tries === 1 ? 'One try is left for now.' : `${tries} tries are left for now.`;
}
