import type { Context } from '../../context';
import { CliError } from '../../errors';
import type { Profile, StoredProfiles } from '../../profile/profile';

/** Keeps the service as a profile, so that `pwpush push` works in the next terminal. */
export async function keepProfile(
  context: Context,
  profile: { readonly url: string; readonly token: string },
  note: (text: string) => Promise<void>,
  warn: (text: string) => void,
): Promise<void> {
  try {
    const store = await context.profiles();
    let name = '';
    const { current } = await store.update((stored) => {
      const kept = keepLocal(stored, profile);
      name = kept.name;
      return kept.stored;
    });
    await note(
      `kept as profile "${name}"${current === name ? '' : `; use it with --profile ${name}`}`,
    );
  } catch (error) {
    const why = error instanceof CliError ? error.message : (error as NodeJS.ErrnoException).code;
    warn(`the token was not kept as a profile: ${why}`);
  }
}

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
