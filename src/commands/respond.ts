import { Command } from 'commander';
import { group } from '../cli/declare';
import { fileRows, passphraseRows, revealRows, sourceRows, withOptions } from '../cli/options';
import type { Context } from '../platform/context';

const rows = {
  ...group('Answer:', { ...sourceRows(), ...fileRows() }),
  ...passphraseRows,
  ...group('Output:', revealRows()),
};

const EXAMPLES = `
The answer comes from standard input, or from one of --from, --env, --generate
and --file; at a terminal pwpush shows the question and asks for it.
It is encrypted to the key in the link, the part after #, so that the instance
cannot decrypt it. Without that part, the key of the instance is used: the
person who runs the instance could read the answer. The first answer is the only
one.

Examples:
  $ pwpush respond "$LINK"                     asks for the answer
  $ pwpush respond "$LINK" < ~/.ssh/id_ed25519.pub
  $ pwpush respond "$LINK" --file site.crt --file site.key`;

export function define(context: Context): Command {
  const command = new Command('respond')
    .description('Answer a request for a secret.')
    .argument('<link>', 'link of the request, with the part after #')
    .addHelpText('after', EXAMPLES);
  return withOptions(command, context, rows, async (options, link: string) => {
    const { runRespond } = await import('./respond/run-respond');
    return runRespond(context, options, link);
  });
}
