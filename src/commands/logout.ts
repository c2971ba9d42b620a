import { Command } from 'commander';
import type { Context } from '../context';
import { addProfileOptions, type GlobalOptions, optionsOf } from '../options';
import { configFolder } from '../profile/folders';
import { namedProfile, readProfiles } from '../profile/profile';
import { terminal } from '../terminal/output';

const EXAMPLES = `
The token stays good at the instance; revoke it there if it may have been seen.

Examples:
  $ pwpush logout
  $ pwpush logout --profile work`;

export function logoutCommand(context: Context): Command {
  const command = new Command('logout')
    .description("Forget a profile's token.")
    .addHelpText('after', EXAMPLES)
    .action(() => logout(context, optionsOf(command, context.env, {})));
  return addProfileOptions(command);
}

export async function logout(context: Context, options: GlobalOptions): Promise<void> {
  const name = namedProfile(readProfiles(configFolder(context)), options.profile, context.env).name;
  const store = await context.profiles();
  await store.update((stored) => {
    const { token: _forgotten, ...rest } = stored.profiles[name] ?? {};
    return { ...stored, profiles: { ...stored.profiles, [name]: rest } };
  });
  await terminal(context, options).print(
    { profile: name, token: false },
    () => `profile "${name}" has no token any more\n`,
  );
}
