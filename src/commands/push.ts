import { Command, Option } from 'commander';
import {
  addGlobalOptions,
  expiry,
  newPassphraseOption,
  optionsOf,
  port,
  positive,
} from '../cli/options';
import { kinds, locales } from '../contract/api';
import type { Context } from '../platform/context';
import { usageError } from '../platform/errors';
import type { PushOptions } from './push/push-options';

const EXAMPLES = `
The secret comes from standard input, or from one of [text], --from, --env,
--generate and --file. At a terminal, without any of these, pwpush asks for it,
and offers a passphrase. With no instance configured, it offers to log in or to
serve the secret from this machine.
Languages of --locale: ${locales.slice(0, 16).join(' ')}
${locales.slice(16).join(' ')}.

Examples:
  $ pwpush push                            asks for the secret
  $ pwgen 24 1 | pwpush push --views 1     prints only the link`;

export function define(context: Context): Command {
  const command = new Command('push')
    .description('Push a secret and print its link.')
    .argument('[text]', 'the secret; others can see it, so pipe it in')
    .optionsGroup('Secret:')
    .option('--from <file>', 'read the text from a file; - is standard input')
    .option('--env <name>', 'read the text from an environment variable')
    .option('--generate [length]', 'generate it: 24, words:5, hex:32 (default: 24)')
    .option('--raw', 'keep the final newline of single-line input')
    .addOption(new Option('--kind <kind>', 'kind').choices(kinds))
    .option('-n, --name <name>', 'label, shown to you in lists')
    .option('--note <text>', 'note, shown to you only')
    .optionsGroup('Files:')
    .option('-f, --file <path...>', 'attach files, up to 10; - is standard input')
    .option('--filename <name>', 'name of the file that --file - reads')
    .option('--message <text>', 'text to go with the files')
    .optionsGroup('Limits:')
    .option('-d, --days <n>', 'expire after N days', positive('--days'))
    .option(
      '-e, --expire <time>',
      'expire after 45m, 6h, 3d, 2w, 1mo, or at a time',
      expiry('--expire'),
    )
    .option('-v, --views <n>', 'expire after N views', positive('--views'))
    .option('--deletable', 'let the recipient delete the push')
    .option('--no-deletable', 'do not let the recipient delete the push')
    .option('--retrieval-step', 'require a click, so that scanners use no view')
    .option('--no-retrieval-step', 'open without a click')
    .option('--accept-limits', 'keep the push even if looser limits were granted')
    .optionsGroup('Protection:')
    .addOption(newPassphraseOption('push', 'text'))
    // -pc stays -p -c.
    .combineFlagAndOptionalValue(false)
    .option('--passphrase-file <path>', 'read the passphrase from a file; - is stdin')
    .option('--passphrase-env <name>', 'read the passphrase from a variable')
    .option('--generate-passphrase', 'generate a passphrase and print it on stderr')
    .option('--passphrase-out <file>', 'write that passphrase to a new file (0600)')
    .addOption(encrypt())
    .option('--no-encrypt', 'do not encrypt, whatever the profile says')
    .option('--key-out <file>', 'write the words to a new file (0600)')
    .option('--to <key>', 'encrypt to a public key: age1…, ssh-ed25519 …', each)
    .option('-R, --recipients-file <file>', 'encrypt to the public keys in a file', each)
    .optionsGroup('Output:')
    .option('-c, --copy', 'also copy the link to the clipboard')
    .option('--qr', 'also draw the link as a QR code, on stderr')
    .addOption(
      new Option('--locale <code>', "language of the recipient's page, such as fr").choices(
        locales,
      ),
    )
    .option('--notify <email...>', 'let the instance e-mail the link to up to 5')
    .option('--notify-locale <code>', 'language of that e-mail, such as de')
    .option('--no-receipt', 'keep no receipt of the link (list --local)')
    .option('--dry-run', 'show what would be sent, secrets masked')
    .optionsGroup('From this machine:')
    .option('--here', 'serve the push from memory until it is viewed')
    .option('--host <address>', '0.0.0.0 for the LAN (default: 127.0.0.1)')
    .option('--port <n>', 'port to listen on (default: any free one)', port('--port'))
    .option('--tls-cert <path>', 'certificate chain (PEM)')
    .option('--tls-key <path>', 'private key of the certificate (PEM)')
    .optionsGroup('Many at once:')
    .option('--each', 'push every line of stdin: secret or JSON object')
    .option('--concurrency <n>', 'requests at once (default: 8)', concurrency)
    .addHelpText('after', EXAMPLES)
    .action((text: string | undefined) => {
      const options = optionsOf(command, context.env, DEFAULTS);
      return push(context, text === undefined ? options : { ...options, text });
    });
  return addGlobalOptions(command);
}

/** Takes no other value, so that `--encrypt hunter2` does not push something else than "hunter2". */
function encrypt(): Option {
  const option = new Option('--encrypt [mode]', 'encrypt; the key goes into the link, or =words');
  return option.argParser((value: string) => {
    if (value === 'link' || value === 'words') return value;
    throw usageError(
      '--encrypt is followed by link, by words or by nothing',
      'alone it puts the key into the link; a text comes before it, or after --',
    );
  });
}

function each(value: string, all: readonly string[] = []): string[] {
  return [...all, value];
}

const DEFAULTS = {
  raw: false,
  passphrase: false,
  qr: false,
  copy: false,
  dryRun: false,
  acceptLimits: false,
  receipt: true,
  here: false,
  each: false,
};

function concurrency(value: string): number {
  const number = positive('--concurrency')(value);
  if (number <= 64) return number;
  throw usageError('--concurrency must be at most 64');
}

/** What runs is loaded here: `push --help` does without. */
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
