import { Command } from 'commander';
import { withOptions } from '../cli/options';
import type { Context } from '../platform/context';
import { rows } from './request/request-flags';

const EXAMPLES = `
The question comes from [question] or from standard input; at a terminal pwpush
asks for it, and offers an expiry. The answer is encrypted to a key that stays
on this machine, so that the instance cannot read it; pwpush get on this machine
opens it. If the instance drops the key, as the commercial edition does, the
request is closed again, unless --no-encrypt lets the instance read the answer.

With --here, no instance is needed: this machine serves the page until someone
has answered, shows the link and a QR code, and prints the answer. It listens on
all addresses, because someone else must reach the page; push --here, which has
a secret to lose, listens on this machine alone. Ctrl-C before the answer leaves
nothing behind.

Examples:
  $ pwpush request "The root password of db1?" --expire 6h
  $ link=$(pwpush request "Your SSH public key?" --name onboarding)
  $ pwpush wait "$link" && pwpush get "$link"
  $ pwpush request --here "The code on your screen?"`;

export function define(context: Context): Command {
  const command = new Command('request')
    .description('Ask someone for a secret: print a link that they answer.')
    .argument('[question]', 'what you ask for; the instance can read it')
    .combineFlagAndOptionalValue(false)
    .addHelpText('after', EXAMPLES);
  return withOptions(command, context, rows, async (options, text?: string) => {
    if (options.here) {
      const { requestHere } = await import('./request/request-here');
      return requestHere(context, { ...options, text });
    }
    const { runRequest } = await import('./request/run-request');
    return runRequest(context, { ...options, text });
  });
}
