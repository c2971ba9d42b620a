import { size } from '../../contract/byte-size';
import type { Push } from '../../contract/decode';
import {
  durationText,
  type Fields,
  grantedLifetime,
  localTime,
  roundedTime,
} from '../../contract/lifetime';
import type { SavedSecret } from '../../platform/context';
import type { Entry, Look } from './output';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Returns `2 views and 6 days left`, or `that was the last view`. */
export function left(push: Push, now: Date): string | undefined {
  const { views_remaining: views } = push;
  if (views === 0) return 'that was the last view';
  const parts: string[] = [];
  if (typeof views === 'number') parts.push(count(views, 'view'));
  const time = timeRemaining(push, now);
  if (time !== undefined) parts.push(time);
  return parts.length === 0 ? undefined : `${parts.join(' and ')} left`;
}

interface Remaining {
  readonly expires_at?: string | null | undefined;
  readonly days_remaining?: number | null | undefined;
}

/** Returns `7 days` or `45 min`; whole days if the instance gives no time. */
function timeRemaining({ expires_at, days_remaining: days }: Remaining, now: Date) {
  const left = Date.parse(expires_at ?? '') - now.getTime();
  if (left > 0) return span(left);
  if (typeof days !== 'number') return undefined;
  return days === 0 ? 'less than a day' : count(days, 'day');
}

/** Returns `in 7 days`; empty if the time is not known. */
export function timeLeft(item: Remaining, { now }: Look): string {
  const time = timeRemaining(item, now);
  return time === undefined ? '' : `in ${time}`;
}

/** Returns `1 view was used before yours`; undefined if none was. */
export function usedBefore({ earlier_views: earlier }: Push): string | undefined {
  if (typeof earlier !== 'number' || earlier === 0) return undefined;
  return `${count(earlier, 'view')} ${earlier === 1 ? 'was' : 'were'} used before yours`;
}

export function variablesSet(names: Iterable<string>): string {
  return `variables set: ${[...names].join(', ')}`;
}

/** Returns `1 Dec 2026, 23:59 (UTC+1)` for a push whose expiry was typed as a date; undefined if it is not known. */
export function grantedDate(created: Fields): string | undefined {
  const lifetime = grantedLifetime(created);
  const from = Date.parse(String(created.created_at));
  return lifetime === undefined || Number.isNaN(from)
    ? undefined
    : localTime(from + 1000 * lifetime);
}

/**
 * Describes the limits that an instance granted to a new push, for the person who made it.
 * @param byDate whether a date was typed
 */
export function granted(push: Push, passphrase: boolean, owned: boolean, byDate: boolean): string {
  const { expire_after_views: views } = push;
  const lifetime = grantedLifetime(push);
  const date = byDate ? grantedDate(push) : undefined;
  const limits: string[] = [];
  if (typeof views === 'number') limits.push(count(views, 'view'));
  if (lifetime !== undefined && date === undefined) limits.push(durationText(lifetime));
  const ends = limits.length === 0 ? [] : [`after ${limits.join(' or ')}`];
  if (date !== undefined) ends.push(`on ${date}`);
  const parts = ends.length === 0 ? [] : [`expires ${ends.join(' or ')}`];
  if (passphrase) parts.push('passphrase required');
  if (push.deletable_by_viewer === true) parts.push('recipient can delete it');
  if (push.deletable_by_viewer === false)
    parts.push(owned ? 'only you can delete it' : 'nobody can delete it');
  if (push.retrieval_step === true) parts.push('needs a click');
  return parts.join(' · ');
}

/** Returns `saved report (2).pdf (1.2 MiB); report.pdf already existed`. */
export function savedText(path: string, bytes: number, wanted?: string, named = ''): string {
  const there = wanted === undefined ? '' : `; ${wanted} already existed`;
  return `saved ${path} (${size(bytes)})${named}${there}`;
}

/** Prints a note, or reports an event to the run of this program that started this one. */
export async function reportSaved(
  { context, say }: Entry,
  saved: SavedSecret,
  renamed?: { readonly from: string; readonly isKept: boolean },
): Promise<void> {
  const keeps = renamed?.isKept ? ': -o . keeps it' : '';
  const named = renamed && `, named ${renamed.from} by the sender${keeps}`;
  if (context.happened) context.happened({ event: 'saved', ...saved });
  else await say.note(savedText(saved.path, saved.bytes, saved.wanted, named));
}

/** Returns `5 min ago`, `3 h ago` or `2 days ago`; the date after 30 days. */
export function ago(time: string | null | undefined, now: Date): string {
  const then = Date.parse(time ?? '');
  if (Number.isNaN(then)) return time ?? '';
  const past = now.getTime() - then;
  if (past < MINUTE) return 'just now';
  if (past < HOUR) return `${Math.floor(past / MINUTE)} min ago`;
  if (past < DAY) return `${Math.floor(past / HOUR)} h ago`;
  if (past < 30 * DAY) return `${count(Math.floor(past / DAY), 'day')} ago`;
  return new Date(then).toISOString().slice(0, 10);
}

/** Returns `in 20 min`, `in 5 h` or `in 3 days`. */
export function ahead(time: string, now: Date): string {
  const left = Date.parse(time) - now.getTime();
  return Number.isNaN(left) ? time : `in ${span(left)}`;
}

/** Returns `20 min`, `5 h` or `3 days`. */
export function span(milliseconds: number): string {
  const [value, unit] = roundedTime(milliseconds);
  return unit === 'day'
    ? count(value, 'day')
    : `${value} ${{ second: 's', minute: 'min', hour: 'h' }[unit]}`;
}

/** Returns `1 view` or `2 views`. */
export function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : plural}`;
}
