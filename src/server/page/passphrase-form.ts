import { refusalHead } from '../http/responses';
import { viewsRemaining } from '../rules/access';
import { ServiceRefusal } from '../service-errors';
import type { PushRow } from '../store/push-rows';
import { proofFields, provingForm, sealedNotice } from './encrypted';
import { onceField, passphraseRow, problemBox, refusing } from './form-rows';
import { facts, heading, icon, page, remaining, timeLeft, type View } from './layout';
import { type Markup, markup } from './markup';
import { commandFor } from './plain';

const prompts = {
  push: { title: 'sharedTitle', name: 'passphrase', show: 'showSecret', note: 'unexpected' },
  request: {
    title: 'requestTitle',
    name: 'request[passphrase]',
    show: 'showRequest',
    note: 'requestUnexpected',
  },
} as const;

/**
 * Asks for the passphrase, or to press a button, before a view of a push is used or the question of a request is shown:
 * link scanners press no buttons.
 */
export function passphrasePage(
  view: View,
  row: PushRow,
  base: string,
  problem?: PassphraseProblem,
): Response {
  const { words } = view;
  const isRequest = row.kind === 'request';
  const { title, name, show, note } = prompts[isRequest ? 'request' : 'push'];
  const locked = row.protected === 1;
  const wrong = problem !== undefined && markup` aria-invalid="true" aria-describedby="problem"`;
  const attributes = markup` required${wrong}`;
  const field = { id: 'passphrase', name, label: 'passphrase', focused: true, attributes } as const;
  const button = isRequest && markup`<input type="hidden" name="request[open]" value="1">`;
  const cost = words.text(viewsRemaining(row) === 1 ? 'openingUsesLast' : 'openingUsesOne');
  const sealed = sealedNotice(view, row, base);
  const proves = row.key_proof !== null;
  const command =
    !isRequest &&
    !sealed.notice &&
    markup`
<noscript><p class="quiet">${words.text('cliTitle')}: <code>${commandFor(row, base)}</code></p></noscript>`;
  const main = markup`<div class="body">
${heading('lock', words.text(title))}
${(locked || row.sealed_with !== 'recipient') && markup`<p class="quiet">${words.text(locked ? 'enterPassphrase' : 'pressToShow')}</p>`}
${sealed.notice}${problem !== undefined && problemBox(problem.text)}
<form method="post" autocomplete="off"${proves && provingForm(view, row, problem?.refused ?? false)}>
${locked ? passphraseRow(view, field) : button}${proves && proofFields(view, row)}${!isRequest && onceField()}
<button class="primary wide">${icon('eye')}${words.text(show)}</button>
</form>
<p class="quiet">${words.text(note)}</p>${command}
</div>
<div class="foot">
${isRequest ? facts(timeLeft(view, row)) : remaining(view, row, cost)}
</div>`;
  const parts = [...(locked ? refusing : []), ...sealed.parts];
  return page(view, words.text(title), main, { ...problem, parts });
}

interface PassphraseProblem extends ReturnType<typeof refusalHead> {
  readonly text: Markup | string;
  /** Whether the service refused the key of an encrypted secret. */
  readonly refused?: boolean;
}

/** Returns undefined for an error that is not about the proof of a key. */
export function proofProblem(
  { words }: View,
  error: unknown,
  proved: boolean,
): PassphraseProblem | undefined {
  if (!(error instanceof ServiceRefusal) || error.kind !== 'incomplete') return undefined;
  const head = refusalHead(error);
  const { keySalt, opensAt: address } = error.details;
  if (address !== undefined)
    return { ...head, refused: true, text: words.fill('opensAt', { address }) };
  if (keySalt !== undefined)
    return { ...head, refused: true, text: words.text(proved ? 'keyWrong' : 'keyWordsNeeded') };
  return { ...head, refused: proved, text: words.text(proved ? 'keyDamaged' : 'keyMissing') };
}

/** Returns undefined for an error that is not about the passphrase or the number of attempts. */
export function passphraseProblem(
  { words }: View,
  error: unknown,
  entered: boolean,
): PassphraseProblem | undefined {
  if (!(error instanceof ServiceRefusal)) return undefined;
  const head = refusalHead(error);
  const { retryAfter = 60, triesLeft } = error.details;
  if (error.kind === 'too_many') {
    const when = words.when(retryAfter * 1000);
    return { ...head, text: words.fill('passphraseTooOften', { when }) };
  }
  if (error.kind !== 'passphrase') return undefined;
  if (!entered) return { ...head, text: words.text('passphraseMissing') };
  if (triesLeft === undefined) return { ...head, text: words.text('passphraseWrong') };
  if (triesLeft === 0) return { ...head, text: words.text('passphraseWrongWait') };
  return { ...head, text: words.count('passphraseWrongLeft', triesLeft) };
}
