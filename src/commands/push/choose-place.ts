import { type Entry, entryOf } from '../../cli/terminal/output';
import { contextWith } from '../../platform/context';
import type { Sources } from '../../profile/target';

/**
 * With nothing configured, the user can log in, or serve the push from this machine. Returns what was chosen; after `instance`
 * one is configured.
 * @param servable whether this machine could serve it
 */
export async function choosePlace(
  { context, say }: Entry,
  sources: Sources,
  servable: boolean,
): Promise<'instance' | 'here'> {
  await say.note('no instance is configured (to run your own: pwpush serve, in another terminal)');
  if (servable) {
    const prompter = await context.prompter();
    const chosen = await prompter.choose('How do you want to share this push?', [
      { name: 'log in to an instance and push there', short: 'on an instance', value: 'login' },
      {
        name: 'serve it from this machine until it is viewed (--here)',
        short: 'from this machine',
        value: 'here',
      },
    ]);
    if (chosen === 'here') return 'here';
  }
  const { login } = await import('../login');
  // stdout is for the link alone.
  const redirected = contextWith(context, { stdout: context.stderr });
  const entry = entryOf(redirected, say.manner);
  await login(entry, { address: undefined, keyring: false, sources });
  return 'instance';
}
