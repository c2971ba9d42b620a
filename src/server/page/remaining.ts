import { viewsRemaining } from '../rules/push-state';
import type { PushRow } from '../store/push-rows';
import { icon, type View } from './layout';
import { type Markup, markup } from './markup';

/** The views and the time left; `cost` says what uses a view. */
export function remaining({ words, now }: View, push: PushRow, cost = ''): Markup {
  return facts(
    fact('eye', words.count('viewsLeft', viewsRemaining(push)), cost),
    fact(
      'clock',
      words.fill('expires', { when: words.when(push.expires_at - now) }),
      words.date(push.expires_at),
    ),
  );
}

export function facts(...items: Markup[]): Markup {
  return markup`<ul class="facts">
${items}</ul>`;
}

export function fact(
  name: 'eye' | 'clock' | 'check',
  main: Markup | string,
  more: Markup | string,
): Markup {
  return markup`<li>${icon(name)}<div><b>${main}</b> <span>${more}</span></div></li>
`;
}
