import {
  type Account,
  APPLICATION,
  durations,
  type InstanceVersion,
  limits,
  longestDuration,
  type NewPush,
} from '../contract/api';
import { durationCode, durationText } from '../contract/duration';
import type { Edition } from '../platform/context';
import { CliError, usageError } from '../platform/errors';
import type { Api } from './client';

/**
 * The edition of an instance (docs/wire.md, "Editions and versions"); one that reports neither its edition nor features is
 * asked for its accounts and requests.
 * @param version asked for if it is left out
 */
export async function askEdition(
  api: Pick<Api, 'version' | 'accounts' | 'requests'>,
  version?: InstanceVersion,
): Promise<Edition> {
  const { edition, features } = version ?? (await api.version());
  const has = (of: unknown, name: string) => isObject(of) && isOn(of[name]);
  if (has(features?.pushes, 'expires_in')) return APPLICATION;
  if (edition) return edition.toLowerCase() === 'commercial' ? 'commercial' : 'oss';
  if (isObject(features))
    return has(features, 'accounts') || has(features, 'requests') ? 'commercial' : 'oss';
  const found =
    (await isThere(api.accounts)) || (await isThere(() => api.requests.list('open', 1)));
  return found ? 'commercial' : 'oss';
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** A feature is an object or a boolean. */
const isOn = (feature: unknown) =>
  feature === true || (isObject(feature) && feature.enabled === true);

/** Whether an instance has what is asked for, although it may refuse it. */
async function isThere(ask: () => Promise<unknown>): Promise<boolean> {
  try {
    await ask();
    return true;
  } catch (error) {
    if (!(error instanceof CliError) || error.status === undefined) throw error;
    return error.status === 401 || error.status === 403;
  }
}

export type ExpiryFields = Pick<
  NewPush,
  'expire_after_days' | 'expire_after_duration' | 'expires_in'
>;

/** In seconds. */
const DAY = 86_400;

/**
 * The field of a creation that grants a lifetime, or the longest shorter one that the edition has.
 * @param seconds above 0
 * @throws CliError (usage) for one that the edition does not have, and nothing close to it
 */
export function expiryFields(seconds: number, edition: Edition): ExpiryFields {
  if (edition === 'oss') return { expire_after_days: wholeDays(seconds) };
  if (edition === APPLICATION) {
    if (seconds % DAY === 0) return { expire_after_days: seconds / DAY };
    if (seconds < limits.seconds) throw tooShort(seconds, limits.seconds);
    return { expires_in: seconds };
  }
  const index = longestDuration(seconds);
  if (index === -1) throw tooShort(seconds, durations[0] ?? 0);
  return { expire_after_duration: index };
}

function tooShort(seconds: number, shortest: number): CliError {
  return usageError(
    `this instance cannot expire a push after ${durationText(seconds)}`,
    `the shortest is ${durationText(shortest)}`,
  );
}

/** @throws CliError (usage) for less than a day */
function wholeDays(seconds: number): number {
  if (seconds >= DAY) return Math.floor(seconds / DAY);
  throw usageError(
    `this instance counts whole days: it cannot expire a push after ${durationText(seconds)}`,
    'use --days 1, and end it before: ' +
      `pwpush wait LINK --timeout ${durationCode(seconds)} --then-expire || pwpush expire LINK`,
  );
}

/** Whether an account is given by its id, not its name. */
export function isAccountId(account: string): boolean {
  return /^\d{1,15}$/.test(account);
}

/**
 * The id of an account that is given by id or name; a name is looked up.
 * @throws CliError (usage) if no account or more than one has that name
 */
export async function accountId(api: Pick<Api, 'accounts'>, account: string): Promise<number> {
  if (isAccountId(account)) return Number(account);
  const all = await api.accounts();
  const found = all.filter(({ name }) => name === account);
  const [only, ...others] = found;
  if (only && others.length === 0) return only.id;
  throw usageError(
    only ? `several accounts are called "${account}"` : `no such account: "${account}"`,
    `choose the id of one: ${all.map(described).join(', ')}`,
  );
}

const described = ({ id, name }: Account) => (name ? `${id} (${name})` : `${id}`);
