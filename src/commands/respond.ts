import { Command } from 'commander';
import { addGlobalOptions, addPassphraseOptions, optionsOf } from '../cli/options';
import type { Context } from '../platform/context';
import type { RespondOptions } from './respond/run-respond';

const EXAMPLES = `
The answer comes from standard input, or from one of --from, --env, --generate
and --file; at a terminal pwpush shows the question and asks for it. It is
encrypted to the key in the link, the part after #, so that the instance cannot
decrypt it. Without that part, the key of the instance is used: the person who
runs the instance could read the answer. The first answer is the only one.

Examples:
  $ pwpush respond "$LINK"                     asks for the answer
  $ pwpush respond "$LINK" < ~/.ssh/id_ed25519.pub
  $ pwpush respond "$LINK" --file site.crt --file site.key`;

export function define(context: Context): Command {
  const command = new Command('respond')
    .description('Answer a request for a secret.')
    .argument('<link>', 'link of the request, with the part after #')
    .optionsGroup('Answer:')
    .option('--from <file>', 'read the text from a file; - is standard input')
    .option('--env <name>', 'read the text from an environment variable')
    .option('--generate [length]', 'generate it: 24, words:5, hex:32 (default: 24)')
    .option('--raw', 'keep the final newline of single-line input')
    .option('-f, --file <path...>', 'attach files, up to 10; - is standard input')
    .option('--filename <name>', 'name of the file that --file - reads')
    .option('--message <text>', 'text to go with the files')
    .addHelpText('after', EXAMPLES)
    .action(async (link: string) => {
      const options: RespondOptions = { ...optionsOf(command, context.env, DEFAULTS), link };
      // Loaded here: `respond --help` does without.
      const { runRespond } = await import('./respond/run-respond');
      return runRespond(context, options);
    });
  return addGlobalOptions(addPassphraseOptions(command));
}

const DEFAULTS = { raw: false, passphrase: false };
