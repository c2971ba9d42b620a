import { type Account, APPLICATION, type InstanceVersion } from '../contract/api';
import type { Edition } from '../contract/lifetime';
import { CliError, usageError } from '../platform/errors';
import type { Api } from './client';
import { hasFeature, isObject } from './features';

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
  if (hasFeature(features?.pushes, 'expires_in')) return APPLICATION;
  if (edition) return edition.toLowerCase() === 'commercial' ? 'commercial' : 'oss';
  if (isObject(features))
    return hasFeature(features, 'accounts') || hasFeature(features, 'requests')
      ? 'commercial'
      : 'oss';
  const found =
    (await isThere(api.accounts)) || (await isThere(() => api.requests.list('open', 1)));
  return found ? 'commercial' : 'oss';
}

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
