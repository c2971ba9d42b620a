import { viewsRemaining } from '../rules/push-state';
import type { PushRow } from '../store/push-rows';
import { icon } from './icons';
import { page } from './layout';
import { markup } from './markup';
import type { Problem } from './problem';
import { remaining } from './remaining';

/** What is asked before a secret is shown: a press of the button, which no link scanner makes, and the passphrase. */
export function askPage(push: PushRow, now: number, problem?: Problem): Response {
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

function field(problem: Problem | undefined) {
  const wrong = problem !== undefined && markup` aria-invalid="true" aria-describedby="problem"`;
  return markup`<label for="passphrase">Passphrase</label>
<input id="passphrase" name="passphrase" type="password" autocomplete="off" required autofocus${wrong}>`;
}
