import { profileInUse } from '../../src/profile/config-file';
import type { Profile, StoredProfiles } from '../../src/profile/settings';
import { type SettingSource, type Sources, targetOf } from '../../src/profile/target';

interface Given {
  readonly profile?: string | undefined;
  readonly url?: string | undefined;
  readonly token?: string | undefined;
  readonly insecure?: boolean;
}

/** What options and environment say, in brief. */
export interface Typed extends Given {
  readonly anonymous?: boolean;
  readonly env?: Given;
}

/** What of the sources does not depend on the profiles that are stored. */
interface Request extends Omit<Sources, 'stored' | 'inUse'> {
  readonly variable: string | undefined;
}

export async function targetFrom(stored: StoredProfiles, { variable, ...sources }: Request, linkBase?: string) {
  const inUse = profileInUse(stored, { PWPUSH_PROFILE: variable }, sources.profile);
  const { token, typedToken: _, ...target } = targetOf({ ...sources, stored, inUse }, linkBase);
  return { ...target, token: await token?.read(), tokenFrom: token?.from };
}

export function requestOf({ profile, anonymous = false, env = {}, ...options }: Typed): Request {
  return {
    profile,
    anonymous,
    variable: env.profile,
    typed: source('--token-file', options),
    env: source('PWPUSH_TOKEN', env),
    ofProfile: (name, stored) => ({ ...source(`profile "${name}"`, stored), settings: stored }),
  };
}

function source(from: string, { url, token, insecure }: Given): SettingSource {
  const settings: Profile = {
    ...(url === undefined ? {} : { url }),
    ...(insecure ? { insecure } : {}),
  };
  return {
    settings,
    token: token === undefined ? undefined : { from, read: async () => token },
    labelOf: (setting) => setting,
  };
}
