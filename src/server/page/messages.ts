import { refusalHead } from '../http/responses';
import { Refusal, type RefusalKind } from '../service-errors';
import repairScript from './browser/repair-link.ts?script';
import { heading, PagePart, page, type View } from './layout';
import { type Markup, markup } from './markup';
import type { PhraseKey } from './phrases';

/** A request that the pages refuse themselves, with the phrase that says why. */
export class Forbidden extends Refusal {
  constructor(readonly phrase: PhraseKey) {
    super('forbidden', phrase);
  }
}

/** The words for each kind of refusal. The API's own are for programs, and in English. */
const refusals: Readonly<
  Partial<Record<RefusalKind, readonly [title: PhraseKey, text: PhraseKey]>>
> = {
  forbidden: ['forbiddenTitle', 'notDeletable'],
  too_large: ['tooLargeTitle', 'tooLargeText'],
  too_many: ['tooManyTitle', 'tooManyText'],
  busy: ['busyTitle', 'busyText'],
  away: ['busyTitle', 'busyText'],
  full: ['fullTitle', 'fullText'],
};

export function refusalWords(refusal: Refusal): readonly [title: PhraseKey, text: PhraseKey] {
  if (refusal instanceof Forbidden) return ['forbiddenTitle', refusal.phrase];
  return refusals[refusal.kind] ?? ['invalidTitle', 'invalidText'];
}

/** A refused request, explained to the person at the browser. */
export function refusalPage(view: View, refusal: Refusal): Response {
  const { words } = view;
  const { retryAfter } = refusal;
  const [title, text] = refusalWords(refusal);
  return failure(
    view,
    words.text(title),
    markup`<p>${words.text(text)}</p>
${
  retryAfter !== undefined &&
  markup`<p>${words.fill('tryAgainIn', { when: words.when(retryAfter * 1000) })}</p>
<p><a class="button" href="">${words.text('tryAgain')}</a></p>`
}`,
    refusalHead(refusal),
  );
}

/** An internal error. The cause is in the log only. */
export function errorPage(view: View): Response {
  const { words } = view;
  const text = markup`<p>${words.text('errorText')}</p>`;
  return failure(view, words.text('errorTitle'), text, { status: 500 });
}

function failure(
  view: View,
  title: string,
  text: Markup,
  options: Parameters<typeof page>[3],
): Response {
  const main = markup`<div class="body">
${heading('alert', title, true)}
${text}
</div>`;
  return page(view, title, main, options);
}

const repairing = new PagePart('script', repairScript);

/** The same for a push that has expired and for a token that never existed. */
export function gonePage(view: View): Response {
  const { words } = view;
  const title = words.text('goneTitle');
  const main = markup`<div class="body">
${heading('none', title)}
<p>${words.text('goneText')}</p>
<p class="quiet">${words.text('goneAdvice')}</p>
</div>`;
  return page(view, title, main, { status: 404, parts: [repairing] });
}

/** Confirms that the viewer has deleted the push. */
export function deletedPage(view: View): Response {
  const { words } = view;
  const title = words.text('deletedTitle');
  const main = markup`<div class="body">
${heading('check', title)}
<p>${words.text('deletedText')}</p>
<p class="quiet">${words.text('closePage')}</p>
</div>`;
  return page(view, title, main);
}
