import { size } from '../byte-size';
import type { Push } from '../contract';
import { count } from './time';

/** What is left after a retrieval: `2 views and 6 days left`, or `that was the last view`. */
export function left(push: Push): string | undefined {
  const { views_remaining: views, days_remaining: days } = push;
  if (views === 0) return 'that was the last view';
  const parts = [
    typeof views === 'number' ? count(views, 'view') : undefined,
    typeof days === 'number' ? (days === 0 ? 'less than a day' : count(days, 'day')) : undefined,
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : `${parts.join(' and ')} left`;
}

/** The names of the variables that a secret was given as. */
export function variablesSet(names: Iterable<string>): string {
  return `variables set: ${[...names].join(', ')}`;
}

/** What an instance granted to a new push, for the person who made it. */
export function granted(push: Push, passphrase: boolean, owned: boolean): string {
  const { expire_after_views: views, expire_after_days: days } = push;
  const limits = [
    typeof views === 'number' ? count(views, 'view') : undefined,
    typeof days === 'number' ? count(days, 'day') : undefined,
  ].filter((part) => part !== undefined);
  const parts = [
    limits.length === 0 ? undefined : `expires after ${limits.join(' or ')}`,
    passphrase ? 'passphrase required' : undefined,
    push.deletable_by_viewer === true ? 'recipient can delete it' : undefined,
    push.deletable_by_viewer === false
      ? owned
        ? 'only you can delete it'
        : 'nobody can delete it'
      : undefined,
    push.retrieval_step === true ? 'opens with a click' : undefined,
  ].filter((part) => part !== undefined);
  return parts.join(' · ');
}

/** Where a secret or file was saved: `saved report (2).pdf (1.2 MiB); report.pdf was taken`. */
export function savedText(path: string, bytes: number, taken: string | undefined): string {
  return `saved ${path} (${size(bytes)})${taken === undefined ? '' : `; ${taken} was taken`}`;
}
