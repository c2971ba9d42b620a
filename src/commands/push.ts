import { Command } from 'commander';
import { withOptions } from '../cli/options';
import { locales } from '../contract/api';
import type { Context } from '../platform/context';
import { type PushOptions, rows } from './push/push-flags';

const EXAMPLES = `
The secret comes from standard input, or from one of [text], --from, --env,
--edit, --generate and --file. At a terminal, without any of these, pwpush asks
for it, several lines too if they are pasted, and offers a passphrase. With no
instance configured, it offers to log in or to serve the secret from this
machine.
Languages of --locale: ${locales.slice(0, 16).join(' ')}
${locales.slice(16).join(' ')}.

Examples:
  $ pwpush push                            asks for the secret
  $ pwgen 24 1 | pwpush push --views 1     prints only the link`;

export function define(context: Context): Command {
  const command = new Command('push')
    .description('Push a secret and print its link.')
    .argument('[text]', 'the secret; others can see it, so pipe it in')
    // -pc stays -p -c.
    .combineFlagAndOptionalValue(false)
    .addHelpText('after', EXAMPLES);
  return withOptions(command, context, rows, (options, text?: string) =>
    push(context, { ...options, text }),
  );
}

/** Loads what it runs: `push --help` does without. */
async function push(context: Context, options: PushOptions): Promise<void> {
  const { createSession } = await import('../profile/session');
  const session = createSession(context, options);
  if (options.each) {
    const { pushEach } = await import('./push/each');
    return pushEach(session, options);
  }
  const { pushOne } = await import('./push/one');
  return pushOne(session, options);
}
