import { refusalHead } from '../http/responses';
import { Refusal } from '../refusal';
import { viewsRemaining } from '../rules/push-state';
import type { PushRow } from '../store/push-rows';
import { icon, page } from './layout';
import { type Markup, markup } from './markup';
import { remaining, retryText } from './remaining';

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

/** Why the passphrase form is shown again. */
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
