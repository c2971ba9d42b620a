import { API_PATH, type NewPush, type Push, routes } from '../contract';
import { safe, safeJson } from './safe';
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

/** Which variables a secret was given: their names. */
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
    limits.length === 0 ? undefined : `good for ${limits.join(' or ')}`,
    passphrase ? 'with a passphrase' : undefined,
    push.deletable_by_viewer === true ? 'the recipient may delete it' : undefined,
    push.deletable_by_viewer === false
      ? owned
        ? 'only you may delete it'
        : 'nobody may delete it'
      : undefined,
    push.retrieval_step === true ? 'shown after a click' : undefined,
  ].filter((part) => part !== undefined);
  return parts.join(', ');
}

const MASK = '***';
const masked = new Set(['payload', 'passphrase', 'note']);

/** What `--dry-run` shows of a creation: the request with its secrets masked. */
export function dryRunText(
  target: { base: string; token?: string | undefined },
  push: NewPush,
  json: boolean,
): string {
  const { method, path } = routes.create;
  const url = `${target.base}${API_PATH}${path}`;
  const authorization = target.token === undefined ? undefined : `Bearer ${MASK}`;
  const fields = Object.entries(push).map(([field, value]) => [
    field,
    masked.has(field) ? MASK : value,
  ]);
  const body = { push: Object.fromEntries(fields) };
  if (json) return `${safeJson(JSON.stringify({ method, url, authorization, body }))}\n`;
  const header = authorization === undefined ? '' : `authorization: ${authorization}\n`;
  return `${method} ${safe(url)}\n${header}content-type: application/json\n\n${indented(body)}\n`;
}

function indented(value: unknown): string {
  return JSON.stringify(value, null, 2).split('\n').map(safeJson).join('\n');
}
