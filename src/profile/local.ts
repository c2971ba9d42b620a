import type { Profile, StoredProfiles } from './profile';

/** The profile of a service on this machine, among all. */
export interface KeptProfile {
  readonly name: string;
  readonly stored: StoredProfiles;
}

/**
 * Keeps the first token of a service on this machine as profile `local`, or `local-2` and so on where that
 * name holds another token: a token that was shown only once must not be overwritten. One of a service that
 * lived in memory may be.
 */
export function keepLocal(stored: StoredProfiles, profile: Profile): KeptProfile {
  const name = freeName(stored);
  const profiles = { ...stored.profiles, [name]: profile };
  return { name, stored: { current: stored.current ?? name, profiles } };
}

function freeName(stored: StoredProfiles): string {
  for (let number = 1; ; number++) {
    const name = number === 1 ? 'local' : `local-${number}`;
    const there = stored.profiles[name];
    if (there === undefined || there.temporary === true) return name;
  }
}

/** Drops the profile that holds this token, if there is one. */
export function forgetLocal(stored: StoredProfiles, token: string): StoredProfiles {
  const kept = Object.entries(stored.profiles).filter(([, profile]) => profile.token !== token);
  const profiles = Object.fromEntries(kept);
  const { current } = stored;
  const stays = current !== undefined && Object.hasOwn(profiles, current);
  return { ...(stays ? { current } : {}), profiles };
}
