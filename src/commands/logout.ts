import { Command } from 'commander';
import type { Context } from '../context';
import { addProfileOptions, optionsOf } from '../options';
import { namedProfile, storedProfiles } from '../profile/config-file';
import { withoutToken } from '../profile/settings';
import { type Invocation, invocation } from '../terminal/output';

const EXAMPLES = `
The token stays valid. If it may have leaked, revoke it on the instance.

Examples:
  $ pwpush logout
  $ pwpush logout --profile work`;

export function define(context: Context): Command {
  const command = new Command('logout')
    .description('Remove the token of a profile.')
    .addHelpText('after', EXAMPLES)
    .action(() => logout(invocation(context, optionsOf(command, context.env, {}))));
  return addProfileOptions(command);
}

async function logout({ context, options, say }: Invocation): Promise<void> {
  const name = namedProfile(storedProfiles(context), options.profile, context.env).name;
  const store = await context.profiles();
  await store.update((stored) => {
    const rest = withoutToken(stored.profiles[name] ?? {});
    return { ...stored, profiles: { ...stored.profiles, [name]: rest } };
  });
  await say.print(
    { profile: name, token: false },
    () => `removed the token of profile "${name}"\n`,
  );
}
