import type { Profile, StoredProfiles } from './target';

/** The profile of a service on this machine, among all. */
export interface KeptProfile {
  readonly name: string;
  readonly stored: StoredProfiles;
}

/**
 * Keeps the first token of a service on this machine as profile `local`, or `local-2` and so on where that
 * name is taken: a token that was shown only once must not be overwritten.
 */
export function keepLocal(stored: StoredProfiles, profile: Profile): KeptProfile {
  const name = freeName(stored);
  const profiles = { ...stored.profiles, [name]: profile };
  return { name, stored: { current: stored.current ?? name, profiles } };
}

function freeName(stored: StoredProfiles): string {
  for (let number = 1; ; number++) {
    const name = number === 1 ? 'local' : `local-${number}`;
    if (!Object.hasOwn(stored.profiles, name)) return name;
  }
}
