import { refusalHead } from '../http/responses';
import type { Refusal } from '../refusal';
import { icon } from './icons';
import { page } from './layout';
import { type Markup, markup } from './markup';
import { later } from './problem';

const titles: Readonly<Record<number, string>> = {
  403: 'This is not allowed',
  413: 'That is too large',
  429: 'Too many requests',
  503: 'The service is busy',
};

/** A request that was refused, in words for whoever sits at the browser. */
export function refusalPage(refusal: Refusal, now: number): Response {
  const { status, headers } = refusalHead(refusal);
  const again = refusal.retryAfter !== undefined;
  return failure(
    titles[status] ?? 'That did not work',
    markup`<p>${refusal.message}</p>
${
  again &&
  markup`<p>${later(refusal, now)}</p>
<p><a class="button" href="">Try again</a></p>`
}`,
    { status, headers },
  );
}

/** What went wrong stands in the log, and nowhere else. */
export function errorPage(): Response {
  return failure(
    'Something went wrong',
    markup`<p>The service could not do this. Whoever runs it finds the reason in its log.</p>`,
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
