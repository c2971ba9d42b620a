import type { Profile, StoredProfiles } from '../../src/profile/settings';
import { chooseTarget, type SettingSource, type Sources } from '../../src/profile/target';

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

/** The target that is chosen by that, with its token read. */
export async function targetFrom(stored: StoredProfiles, sources: Sources, linkBase?: string) {
  const { token, ...target } = chooseTarget(stored, sources, linkBase);
  return { ...target, token: await token?.read(), tokenFrom: token?.from };
}

/** The sources for that. */
export function requestOf({ profile, anonymous = false, env = {}, ...options }: Typed): Sources {
  return {
    profile,
    anonymous,
    envProfile: env.profile,
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
    named: (setting) => setting,
  };
}
