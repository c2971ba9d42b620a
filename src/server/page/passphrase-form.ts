import { refusalHead } from '../http/responses';
import { viewsRemaining } from '../rules/access';
import { Refusal } from '../service-errors';
import refuseScript from './browser/refuse-key.ts?script';
import {
  heading,
  icon,
  PagePart,
  page,
  passphraseField,
  problemBox,
  remaining,
  type View,
} from './layout';
import { type Markup, markup } from './markup';
import { curlFor, type Offer } from './plain';

/** Keeps keys from being sent as passphrases. */
export const refusing = [new PagePart('script', refuseScript)];

/** A field for a passphrase that the service is to get, which a key is not (`refusing`). */
export function serverPassphrase(view: View, attributes: Markup): Markup {
  return passphraseField(
    view,
    markup` data-key="${view.words.text('passphraseIsKey')}"${attributes}`,
  );
}

/** Asks for the passphrase and to press a button before a view is taken: link scanners press no buttons. */
export function passphrasePage(view: View, offer: Offer, problem?: PassphraseProblem): Response {
  const { words } = view;
  const { push } = offer;
  const locked = push.protected === 1;
  const title = words.text('sharedTitle');
  const cost = viewsRemaining(push) === 1 ? 'openingUsesLast' : 'openingUsesOne';
  return page(
    view,
    title,
    markup`<div class="body">
${heading('lock', title)}
<p class="quiet">${words.text(locked ? 'enterPassphrase' : 'pressToShow')}</p>
${problem !== undefined && problemBox(problem.text)}
<form method="post" autocomplete="off">
${locked && field(view, problem)}
<button class="primary wide">${icon('eye')}${words.text('showSecret')}</button>
</form>
<p class="quiet">${words.text('unexpected')}</p>
<noscript><p class="quiet">${words.text('cliTitle')}: <code>${curlFor(offer)}</code></p></noscript>
</div>
<div class="foot">
${remaining(view, push, words.text(cost))}
</div>`,
    { status: problem?.status, headers: problem?.headers ?? {}, parts: locked ? refusing : [] },
  );
}

function field(view: View, problem: PassphraseProblem | undefined): Markup {
  const wrong = problem !== undefined && markup` aria-invalid="true" aria-describedby="problem"`;
  return markup`<div class="row"><label for="passphrase">${view.words.text('passphrase')}</label>
${serverPassphrase(view, markup` id="passphrase" name="passphrase" autocomplete="off" required autofocus${wrong}`)}</div>`;
}

/** Why the passphrase form is shown again. */
export interface PassphraseProblem {
  readonly text: Markup | string;
  readonly status: number;
  readonly headers: Record<string, string>;
}

/** The problem with the passphrase, or with the number of attempts; undefined for any other error. */
export function passphraseProblem(
  { words }: View,
  error: unknown,
  given: boolean,
): PassphraseProblem | undefined {
  if (!(error instanceof Refusal)) return undefined;
  const head = refusalHead(error);
  if (error.kind === 'too_many') {
    const when = words.when((error.retryAfter ?? 60) * 1000);
    return { ...head, text: words.fill('passphraseTooOften', { when }) };
  }
  if (error.kind !== 'passphrase') return undefined;
  if (!given) return { ...head, text: words.text('passphraseMissing') };
  const { triesLeft } = error;
  if (triesLeft === undefined) return { ...head, text: words.text('passphraseWrong') };
  if (triesLeft === 0) return { ...head, text: words.text('passphraseWrongWait') };
  return { ...head, text: words.count('passphraseWrongLeft', triesLeft) };
}
