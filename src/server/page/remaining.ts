import { viewsRemaining } from '../rules/access';
import type { Refusal } from '../service-errors';
import type { PushRow } from '../store/push-rows';
import { icon, type Markup, markup } from './layout';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const months =
  'January February March April May June July August September October November December';

/** A duration, rounded, in words: `7 days`, `3 hours`, `one minute`. */
export function duration(milliseconds: number): string {
  if (milliseconds < MINUTE) return amount(Math.max(1, Math.ceil(milliseconds / 1000)), 'second');
  if (milliseconds < 1.5 * HOUR) return amount(Math.round(milliseconds / MINUTE), 'minute');
  if (milliseconds < 1.5 * DAY) return amount(Math.round(milliseconds / HOUR), 'hour');
  return amount(Math.round(milliseconds / DAY), 'day');
}

export function amount(number: number, noun: string): string {
  return number === 1 ? `one ${noun}` : `${number} ${noun}s`;
}

/** A date and time, `27 August 2026, 11:06 UTC`. */
export function dateTime(time: number): Markup {
  const date = new Date(time);
  const iso = date.toISOString();
  const month = months.split(' ')[date.getUTCMonth()];
  const day = `${date.getUTCDate()} ${month} ${date.getUTCFullYear()}`;
  return markup`<time datetime="${iso}">${day}, ${iso.slice(11, 16)} UTC</time>`;
}

/** A time of the same day, `11:06:45 UTC`. */
export function clockTime(time: number): Markup {
  const iso = new Date(time).toISOString();
  return markup`<time datetime="${iso}">${iso.slice(11, 19)} UTC</time>`;
}

/** The views and the time left; `cost` says what takes a view. */
export function remaining(push: PushRow, now: number, cost: string): Markup {
  const left = push.expires_at - now;
  const words = amount(viewsRemaining(push), 'view');
  return facts(
    fact('eye', `${capital(words)} left.`, cost),
    fact('clock', `${capital(duration(left))} left,`, markup`until ${dateTime(push.expires_at)}.`),
  );
}

export function facts(...items: Markup[]): Markup {
  return markup`<ul class="facts">
${items}</ul>`;
}

export function fact(name: 'eye' | 'clock' | 'check', words: string, more: Markup | string) {
  return markup`<li>${icon(name)}<div><b>${words}</b> <span>${more}</span></div></li>
`;
}

function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** When the request may be repeated. */
export function retryText({ retryAfter }: Refusal, now: number): Markup | string {
  if (retryAfter === undefined) return '';
  const wait = retryAfter * 1000;
  return markup`Try again in ${duration(wait)}, at ${clockTime(now + wait)}.`;
}
