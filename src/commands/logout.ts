import { Command } from 'commander';
import { addProfileOptions, optionsOf } from '../cli/options';
import { type Invocation, invocation } from '../cli/terminal/output';
import type { Context } from '../platform/context';
import { failedError } from '../platform/errors';
import { namedProfile, profileIn, storedProfiles } from '../profile/config-file';
import { profileStore } from '../profile/profile-store';
import { hasToken, withoutToken } from '../profile/settings';

export { default as help } from './help/logout.txt?raw';

export function define(context: Context): Command {
  const command = new Command('logout')
    .description('Remove the token of a profile, also from the keyring.')
    .action(() => logout(invocation(context, optionsOf(command, context.env, {}))));
  return addProfileOptions(command);
}

async function logout({ context, options, say }: Invocation): Promise<void> {
  const { name, profile } = namedProfile(storedProfiles(context), options.profile, context.env);
  const store = await profileStore(context);
  await store.update((stored) => {
    const rest = withoutToken(profileIn(stored, name) ?? {});
    return { ...stored, profiles: { ...stored.profiles, [name]: rest } };
  });
  const keyring = profile.keyring ? await import('../profile/system-keyring') : undefined;
  const problem = await keyring?.forgetProfile(context, name, profile);
  if (problem !== undefined)
    throw failedError(problem, { steps: 'unlock the keyring and remove it there' });
  await say.print({ profile: name, token: false }, () => '');
  await say.note(
    hasToken(profile) ? `removed the token of profile "${name}"` : `profile "${name}" has no token`,
  );
}
