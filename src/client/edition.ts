import { APPLICATION, hasFeature, toldEdition } from '../contract/api';
import type { InstanceVersion } from '../contract/decode';
import type { Edition } from '../contract/lifetime';
import { CliError } from '../platform/errors';
import type { Api } from './client';

/** An unnamed edition with accounts or requests is the commercial one (docs/wire.md, "Editions and versions"). */
export async function askEdition(
  api: Pick<Api, 'version' | 'accounts' | 'requests'>,
  version?: InstanceVersion,
): Promise<Edition> {
  const known = version ?? (await api.version());
  const { features } = known;
  const edition = toldEdition(known);
  if (edition === APPLICATION) return APPLICATION;
  const isCommercial = edition
    ? edition.toLowerCase() === 'commercial'
    : features
      ? hasFeature(features, 'accounts') || hasFeature(features, 'requests')
      : (await isThere(api.accounts)) || (await isThere(() => api.requests.list('open', 1)));
  return isCommercial ? 'commercial' : 'oss';
}

/** Returns whether the instance has an endpoint. A 401 or 403 shows that the endpoint exists. */
async function isThere(ask: () => Promise<unknown>): Promise<boolean> {
  try {
    await ask();
    return true;
  } catch (error) {
    if (!(error instanceof CliError) || error.status === undefined) throw error;
    return error.status === 401 || error.status === 403;
  }
}
