import { Command } from 'commander';
import { declare } from '../cli/declare';
import { addOutputOptions, optionsOf } from '../cli/options';
import { filled } from '../cli/values';
import type { Context } from '../platform/context';
import { rows } from './receive/receive-flags';

const EXAMPLES = `
Serves a page on this machine until somebody has answered, shows its link and a
QR code, prints the answer and ends. The answer is encrypted in the browser, or
by pwpush respond, to a key in the link. Ctrl-C before the answer leaves
nothing.

Examples:
  $ pwpush receive "The code on your screen?"
  $ pwpush receive --host 192.0.2.7 --allow-files --output inbox/`;

export function define(context: Context): Command {
  const command = new Command('receive')
    .description('Ask somebody for a secret from this machine, without an instance.')
    .argument('[question]', 'what you ask for')
    .addHelpText('after', EXAMPLES)
    .action(async (question: string | undefined) => {
      const options = {
        ...optionsOf(command, context.env, rows),
        ...(question === undefined ? {} : { question: filled(question, 'the question') }),
      };
      // Loaded here: `receive --help` does without.
      const { serveQuestion } = await import('./receive/serve-question');
      return serveQuestion(context, options);
    });
  return addOutputOptions(declare(command, rows));
}
