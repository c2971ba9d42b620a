import { Command, Option } from 'commander';
import type { Context } from '../context';
import type { Kind } from '../contract';
import { usageError } from '../errors';
import { addGlobalOptions, optionsOf, port, positive } from '../options';
import type { PushOptions } from './push/request';

/** Those of contract.ts, too; a test compares them. */
const LOCALES =
  'ca cs cy da de en en-GB es eu fi fr ga hi hu id is it ja ko lv nl no pl pt-BR pt-PT ro ru sk sr sv th uk ur zh-CN'.split(
    ' ',
  );

const EXAMPLES = `
The secret comes from standard input, or from one of [text], --from, --env,
--generate and --file; on a terminal, without any of them, it is asked for, and
a passphrase is offered. Piped input of one line loses its line end. Up to 10
files go along with --file; --message is a text to go with them. With no
instance configured, you are offered to log in, or to serve it from here.
--each prints one line for every line it reads, an empty one if that failed.
Languages of --locale: ${LOCALES.slice(0, 16).join(' ')}
${LOCALES.slice(16).join(' ')}.

Examples:
  $ pwpush push                                    asks for the secret, hidden
  $ pwgen 24 1 | pwpush push --views 1             the link alone on stdout
  $ pwpush push --from id_ed25519 --days 1 -p      a file's text, with a passphrase
  $ pwpush push --env DB_PASSWORD --json           from a variable, for a script
  $ pwpush push --here --host 0.0.0.0              no instance: to a phone beside you
  $ pwpush push -f report.pdf scan.png             files, of any size
  $ pwpush push --generate words:5                 a new password, shown to you too
  $ pwgen 16 30 | pwpush push --each --views 1     thirty secrets, thirty links
  $ tar cz etc | pwpush push -f - --filename etc.tar.gz`;

export function pushCommand(context: Context): Command {
  const command = new Command('push')
    .description('Create a push and print its link.')
    .argument(
      '[text]',
      'the secret itself; visible to other users of this machine, so for throw-away text only',
    )
    .option('--from <file>', "push a file's content as text; - is standard input")
    .option('--env <name>', "push a variable's value")
    .option('--generate [length]', 'push a new random password; 24 characters, or words:5, hex:32')
    .option('-f, --file <path...>', 'attach files, up to 10; - is standard input')
    .option('--filename <name>', 'what to call the file that --file - reads')
    .option('--message <text>', 'text to go with files; visible like [text]')
    .option('--raw', 'keep the line end of piped input of one line')
    .addOption(new Option('--kind <kind>', 'kind of push').choices(KINDS))
    .option('-d, --days <n>', 'expire after so many days', positive('--days'))
    .option('-v, --views <n>', 'expire after so many views', positive('--views'))
    .option('--deletable', 'the recipient may delete the push')
    .option('--no-deletable', 'the recipient may not delete the push')
    .option('--retrieval-step', 'show the secret after a click only, against link scanners')
    .option('--no-retrieval-step', 'show the secret at once')
    .addOption(askPassphrase())
    // -pc stays -p -c.
    .combineFlagAndOptionalValue(false)
    .option('--passphrase-file <path>', 'read the passphrase from a file; - is standard input')
    .option('--passphrase-env <name>', 'read the passphrase from a variable')
    .option('--generate-passphrase', 'make up a passphrase of words, and show it on stderr')
    .option('--passphrase-out <file>', 'write that passphrase to a new file (0600) instead')
    .option('-n, --name <name>', 'label, shown to you in lists')
    .option('--note <text>', 'note, visible to you only')
    .option('--notify <email...>', 'have the instance e-mail the link to these, up to 5')
    .option('--notify-locale <language>', 'language of that e-mail, such as de')
    .addOption(
      new Option('--locale <code>', "language of the recipient's page, such as fr").choices(
        LOCALES,
      ),
    )
    .option('--qr', 'draw the link as a QR code on stderr')
    .option('-c, --copy', 'put the link on the clipboard too')
    .option('--here', 'serve it from this machine, from memory, until it was seen; one view')
    .option('--host <address>', 'with --here: address to listen on; 0.0.0.0 for the LAN')
    .option('--port <n>', 'with --here: port to listen on; any free one', port('--port'))
    .option('--tls-cert <path>', 'with --here: certificate chain, PEM')
    .option('--tls-key <path>', 'with --here: its private key, PEM')
    .option('--dry-run', 'show what would be sent, secrets masked, and send nothing')
    .option('--each', 'push each line of standard input: a secret, or a JSON object')
    .option('--concurrency <n>', 'pushes of --each that run at once; 8', concurrency)
    .option('--accept-limits', 'keep the push when the instance granted looser limits than asked')
    .addHelpText('after', EXAMPLES)
    .action((text: string | undefined) => {
      const options = optionsOf(command, context.env, DEFAULTS);
      return push(context, text === undefined ? options : { ...options, text });
    });
  return addGlobalOptions(command);
}

/** Declared as if it took a value: `-p hunter2`, which other programs accept, must not push "hunter2". */
function askPassphrase(): Option {
  const option = new Option('-p, --passphrase', 'ask for a passphrase to protect the push with');
  option.optional = true;
  return option.argParser((value?: string) => {
    if (value === undefined) return true;
    throw usageError(
      '-p takes no passphrase: other users of this machine can read the command line',
      'alone it asks for one; else --passphrase-file PATH or --passphrase-env NAME; a text comes before it, or after --',
    );
  });
}

const DEFAULTS = {
  raw: false,
  passphrase: false,
  qr: false,
  copy: false,
  dryRun: false,
  acceptLimits: false,
  here: false,
  each: false,
};

/** Those of contract.ts, which need not be loaded to print the help. */
const KINDS = ['text', 'file', 'url', 'qr'] satisfies Kind[];

function concurrency(value: string): number {
  const number = positive('--concurrency')(value);
  if (number <= 64) return number;
  throw usageError('--concurrency takes at most 64');
}

/** What runs is loaded here: `push --help` does without. */
async function push(context: Context, options: PushOptions): Promise<void> {
  const { createSession } = await import('../session');
  const session = createSession(context, options);
  if (options.each) {
    const { pushEach } = await import('./push/each');
    return pushEach(session, options);
  }
  const { pushOne } = await import('./push/one');
  return pushOne(session, options);
}
