import { Command } from 'commander';
import {
  addGlobalOptions,
  duration,
  LONGEST_WAIT,
  newPassphraseOption,
  optionsOf,
} from '../cli/options';
import type { Context } from '../platform/context';
import type { RequestOptions } from './request/run-request';

const EXAMPLES = `
The question comes from [question] or from standard input; at a terminal pwpush
asks for it, and offers an expiry. The answer is encrypted to a key that stays
on this machine, so that the instance cannot read it: pwpush get, here, opens
it. If the instance drops the key, as the commercial edition does, the request
is closed again, unless --no-encrypt lets the instance read the answer.

Examples:
  $ pwpush request "The root password of db1?" --expire 6h
  $ link=$(pwpush request "Your SSH public key?" --name onboarding)
  $ pwpush wait "$link" && pwpush get "$link"`;

export function define(context: Context): Command {
  const command = new Command('request')
    .description('Ask somebody for a secret: print a link that they answer.')
    .argument('[question]', 'what you ask for; the instance can read it')
    .optionsGroup('Request:')
    .option('--expire <time>', 'close after 15m to 3mo, such as 6h or 1w')
    .option('-n, --name <name>', 'label, shown to you in lists')
    .option('--note <text>', 'note, shown to you only')
    .option('-f, --file <path...>', 'files to go with the question, up to 10')
    .option('--allow-files', 'let the answer have files')
    .option('--accept-limits', 'keep the request even if looser limits were granted')
    .optionsGroup('Protection:')
    .addOption(newPassphraseOption('page', 'question'))
    .combineFlagAndOptionalValue(false)
    .option('--passphrase-file <path>', 'read the passphrase from a file; - is stdin')
    .option('--passphrase-env <name>', 'read the passphrase from a variable')
    .option('--generate-passphrase', 'generate a passphrase and print it on stderr')
    .option('--passphrase-out <file>', 'write that passphrase to a new file (0600)')
    .option('--identity-out <file>', 'write the private key to a new file (0600)')
    .option('--no-encrypt', 'let the instance read the answer')
    .optionsGroup('Output:')
    .option('-c, --copy', 'also copy the link to the clipboard')
    .option('--qr', 'also draw the link as a QR code, on stderr')
    .option('--notify <email...>', 'let the instance e-mail the link to up to 5')
    .option('--notify-locale <code>', 'language of that e-mail, such as de')
    .option('--wait', 'wait until it is answered (0) or closed (6)')
    .option(
      '--timeout <time>',
      'with --wait: exit with 12 after this time',
      duration('--timeout', LONGEST_WAIT),
    )
    .addHelpText('after', EXAMPLES)
    .action(async (question: string | undefined) => {
      const options: RequestOptions = {
        ...optionsOf(command, context.env, DEFAULTS),
        ...(question === undefined ? {} : { text: question }),
      };
      // Loaded here: `request --help` does without.
      const { runRequest } = await import('./request/run-request');
      return runRequest(context, options);
    });
  return addGlobalOptions(command);
}

const DEFAULTS = {
  raw: false,
  passphrase: false,
  allowFiles: false,
  acceptLimits: false,
  encrypt: true,
  qr: false,
  copy: false,
  wait: false,
};
