import { Command } from 'commander';
import { addOutputOptions, addPassphraseOptions, optionsOf, port } from '../cli/options';
import type { Context } from '../platform/context';
import type { ReceiveOptions } from './receive/serve-question';

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
    .optionsGroup('Request:')
    .option('--expire <time>', 'end after 15m to 3mo, such as 6h (default: 7d)')
    .option('--allow-files', 'let the answer have files')
    .optionsGroup('Output:')
    .option('-o, --output <path>', 'write to a new file (0600) or into a folder')
    .option('--force', 'overwrite existing files')
    .option('-c, --copy', 'also copy the link to the clipboard')
    .optionsGroup('From this machine:')
    .option('--host <address>', 'address to listen on (default: 0.0.0.0)')
    .option('--port <n>', 'port to listen on (default: any free one)', port('--port'))
    .option('--tls-cert <path>', 'certificate chain (PEM)')
    .option('--tls-key <path>', 'private key of the certificate (PEM)')
    .addHelpText('after', EXAMPLES)
    .action(async (question: string | undefined) => {
      const options: ReceiveOptions = {
        ...optionsOf(command, context.env, DEFAULTS),
        ...(question === undefined ? {} : { question }),
      };
      // Loaded here: `receive --help` does without.
      const { serveQuestion } = await import('./receive/serve-question');
      return serveQuestion(context, options);
    });
  return addOutputOptions(addPassphraseOptions(command));
}

const DEFAULTS = { allowFiles: false, force: false, copy: false, passphrase: false };
