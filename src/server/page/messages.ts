import { refusalHead } from '../http/responses';
import { type RefusalKind, ServiceRefusal } from '../service-errors';
import repairScript from './browser/repair-link.ts?script';
import { heading, type IconName, type PageOptions, PagePart, page, type View } from './layout';
import { type Markup, markup } from './markup';
import type { PhraseKey } from './phrases';

/** Thrown when the pages themselves refuse an HTTP request; `phrase` says why. */
export class Forbidden extends ServiceRefusal {
  constructor(readonly phrase: PhraseKey) {
    super('forbidden', phrase);
  }
}

/** Pages have words of their own for each kind of refusal, as the messages of the API are in English. */
const refusals: Readonly<
  Partial<Record<RefusalKind, readonly [title: PhraseKey, text: PhraseKey]>>
> = {
  forbidden: ['forbiddenTitle', 'notDeletable'],
  too_large: ['tooLargeTitle', 'tooLargeText'],
  too_many: ['tooManyTitle', 'tooManyText'],
  busy: ['busyTitle', 'busyText'],
  rekeyed: ['busyTitle', 'busyText'],
  away: ['busyTitle', 'busyText'],
  full: ['fullTitle', 'fullText'],
};

export function refusalWords(
  refusal: ServiceRefusal,
): readonly [title: PhraseKey, text: PhraseKey] {
  if (refusal instanceof Forbidden) return ['forbiddenTitle', refusal.phrase];
  return refusals[refusal.kind] ?? ['invalidTitle', 'invalidText'];
}

export function refusalPage(view: View, refusal: ServiceRefusal): Response {
  const { words } = view;
  const { retryAfter } = refusal.details;
  const retry =
    retryAfter !== undefined &&
    markup`<p>${words.fill('tryAgainIn', { when: words.when(retryAfter * 1000) })}</p>
<p><a class="button" href="">${words.text('tryAgain')}</a></p>`;
  return message(view, 'alert', refusalWords(refusal), { ...refusalHead(refusal), more: retry });
}

/** Does not show the cause of an internal error, which is in the log only. */
export function errorPage(view: View): Response {
  return message(view, 'alert', ['errorTitle', 'errorText'], { status: 500 });
}

const repairing = new PagePart('script', repairScript);

/** A push that has expired and a token that never existed have the same page: nobody learns which tokens there were. */
export function gonePage(view: View): Response {
  const options = { status: 404, parts: [repairing] };
  return message(view, 'none', ['goneTitle', 'goneText', 'goneAdvice'], options);
}

/** Returned for an address that has never been a link. */
export function noPage(view: View): Response {
  return message(view, 'none', ['noPageTitle', 'noPageText'], {
    status: 404,
    parts: [repairing],
    unstored: true,
  });
}

export function deletedPage(view: View): Response {
  return message(view, 'check', ['deletedTitle', 'deletedText', 'closePage'], { unstored: true });
}

interface MessageOptions extends PageOptions {
  /** Content below the text. */
  readonly more?: Markup | false;
}

export function message(
  view: View,
  name: IconName,
  [title, text, quiet]: readonly [title: PhraseKey, text: PhraseKey, quiet?: PhraseKey],
  { more = false, ...options }: MessageOptions = {},
): Response {
  const { words } = view;
  const main = markup`<div class="body">
${heading(name, words.text(title), name === 'alert')}
<p>${words.text(text)}</p>
${quiet !== undefined && markup`<p class="quiet">${words.text(quiet)}</p>`}${more}
</div>`;
  return page(view, words.text(title), main, options);
}
