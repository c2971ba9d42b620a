import { profileGlobals } from '../cli/options';
import type { Entry } from '../cli/terminal/output';
import { failedError, phrase } from '../platform/errors';
import { existingProfile, profileIn, storedProfiles } from '../profile/config-file';
import { hasToken, withoutToken } from '../profile/settings';
import { updateProfiles } from '../profile/store';
import { forgetProfile } from '../profile/system-keyring';
import help from './help/logout.txt?raw';
import { command } from './planned';

export default command({
  description: 'Remove the token of a profile, also from the keyring.',
  help,
  globals: profileGlobals,
  rows: {},
  plan: ({ profile }, { context }) =>
    existingProfile(storedProfiles(context), context.env, profile),
  run: logout,
});

async function logout(
  entry: Entry,
  { name, profile }: ReturnType<typeof existingProfile>,
): Promise<void> {
  const { context, say } = entry;
  await updateProfiles(entry, (stored) => {
    const rest = withoutToken(profileIn(stored, name) ?? {});
    return { ...stored, profiles: { ...stored.profiles, [name]: rest } };
  });
  const problem = profile.keyring ? await forgetProfile(context, name, profile) : undefined;
  if (problem !== undefined) throw failedError(problem, { hints: phrase('unlock-and-remove') });
  await say.print({ profile: name, token: false }, () => '');
  await say.note(
    hasToken(profile) ? `removed the token of profile "${name}"` : `profile "${name}" has no token`,
  );
}
