import type { Profile, StoredProfiles } from '../../context';

/**
 * Adds the first token of a service on this machine as profile `local`, or `local-2` and so on if that exists: a token
 * is shown only once and must not be overwritten.
 */
export function keepLocal(
  stored: StoredProfiles,
  profile: Profile,
): { readonly name: string; readonly stored: StoredProfiles } {
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
