import { Command } from 'commander';
import type { Api } from '../client/client';
import type { Context } from '../context';
import type { Push } from '../contract';
import type { CiOptions } from '../delivery/ci-job';
import type { Destination } from '../delivery/destination';
import { deliver } from '../delivery/print-or-rescue';
import { rescued, stillLeft } from '../delivery/rescued';
import { retrieve } from '../delivery/retrieve';
import { CliError } from '../errors';
import { checkPassphrase, knownPassphrase } from '../input/passphrase';
import { checkStandardInput } from '../input/source';
import { addGlobalOptions, type GlobalOptions, nameList, optionsOf, seconds } from '../options';
import { connectTo } from '../session';
import { patiently } from '../terminal/bounded-write';
import { type Terminal, terminal, toJson } from '../terminal/output';
import { left, savedText } from '../terminal/push-text';
import { forTerminal } from '../terminal/safe';
import { count } from '../terminal/time';
import { type Place, placeFor } from './get/output-place';

export interface GetOptions extends GlobalOptions, CiOptions {
  readonly link: string;
  readonly output?: string;
  /** False with `--no-files`. */
  readonly files: boolean;
  readonly force: boolean;
  readonly copy: boolean;
  readonly qr: boolean;
  /** Seconds. */
  readonly clearAfter?: number;
  readonly passphrase: boolean;
  readonly passphraseFile?: string;
  readonly passphraseEnv?: string;
}

const EXAMPLES = `
The text goes to stdout, byte for byte in a pipe; on a terminal its control
characters are made visible. Files are saved to the current folder under safe
names; where a name is taken " (2)" is added. With --output FOLDER/ the text is
saved there too, as secret.txt. Retrieving takes a view, unless the push is your
own and your token goes along.

Examples:
  $ pwpush get https://pwpush.example/p/abc123def456
  $ pwpush get abc123def456 --output id_ed25519
  $ pwpush get abc123def456 --output inbox/           files, and inbox/secret.txt
  $ pwpush get abc123def456 --output - | tar xz       the one file to stdout
  $ pwpush get abc123def456 --copy --clear-after 30   to paste within 30 seconds
  $ PWPUSH_PASSPHRASE=… pwpush get "$LINK" | docker login --password-stdin …`;

export function getCommand(context: Context): Command {
  const command = new Command('get')
    .description('Retrieve a push: its text to stdout, its files to disk. Takes a view.')
    .argument('<link>', 'link or token of the push')
    .option(
      '-o, --output <path>',
      'write the text to a file (0600), or text and files into a folder; - is stdout',
    )
    .option('--no-files', 'leave attached files where they are')
    .option('--force', 'overwrite existing files')
    .option('-c, --copy', 'put the text on the clipboard instead of printing it')
    .option(
      '--clear-after <seconds>',
      'wait so long, then clear the clipboard if it holds the text still',
      seconds('--clear-after'),
    )
    .option('--qr', 'draw the text as a QR code instead of printing it')
    .option('--github-output <name>', 'mask the text, and make it this output of the step')
    .option('--github-env <name>', 'mask the text, and make it this variable of later steps')
    .option('--gitlab-dotenv <file>', 'append NAME=value lines to this report')
    .option('--as <name>', 'the variable for a text in that report, whatever it looks like')
    .option('--only <names>', 'take just these variables for that report, such as A,B', nameList)
    .option(
      '--allow <names>',
      'let the secret set PATH, NODE_OPTIONS and the like in the job',
      nameList,
    )
    .option('-p, --passphrase', 'ask for the passphrase')
    .option('--passphrase-file <path>', 'read the passphrase from a file; - is standard input')
    .option(
      '--passphrase-env <name>',
      'read the passphrase from a variable (else from PWPUSH_PASSPHRASE)',
    )
    .addHelpText('after', EXAMPLES)
    .action((link: string) => get(context, { ...optionsOf(command, context.env, DEFAULTS), link }));
  return addGlobalOptions(command);
}

const DEFAULTS = { files: true, force: false, copy: false, qr: false, passphrase: false };

/** Makes sure of the place the text goes to, takes the view, and gets the text there or to a rescue file. */
export async function get(context: Context, options: GetOptions): Promise<void> {
  checkPassphrase(options, context);
  checkStandardInput(options);
  const { api, reference } = await connectTo(context, options, options.link);
  const passphrase = await knownPassphrase(options, context);
  const place = await placeFor(options, context);
  let push: Push;
  try {
    push = await retrieve(api, reference.token, passphrase, context);
  } catch (error) {
    await place.discard?.();
    throw error;
  }
  context.asked();
  await handOver(context, options, push, place, api);
  await place.clipboard?.afterwards(push);
}

async function handOver(
  context: Context,
  options: GetOptions,
  push: Push,
  place: Place,
  api: Api,
): Promise<void> {
  const say = terminal(context, options);
  const { json } = options;
  const { folder, file, job, clipboard } = place;
  const handText = async (text: Push, file: Destination | undefined) => {
    const to = job ?? clipboard ?? file;
    if (!to) return onStdout(context, options, text, say);
    const bytes = json ? `${toJson(text)}\n` : (text.payload ?? '');
    const failure = await writeTo(to, bytes, context, options, push);
    if (failure || to.inFolder === undefined) return failure;
    await say.note(savedText(to.inFolder, Buffer.byteLength(bytes), undefined));
    return undefined;
  };
  const files = push.files?.length ?? 0;
  const tellRest = async () => {
    if (files > 0 && !options.files)
      await say.remark(
        `${count(files, 'file')} left where they are: see their addresses with --json`,
      );
    const rest = left(push);
    if (rest !== undefined) await say.remark(rest);
  };
  // After a text in a pipe it could run together with it on the same terminal.
  if (!context.stdout.isTTY) await tellRest();
  // Files alone set nothing in a job, which fails for it once they are there.
  const unset = job && files > 0 && !push.payload ? await nothingFor(job) : undefined;
  let trouble = unset;
  if (files > 0 && options.files) {
    const { receive } = await import('../delivery/save-push');
    const parts = { context, options, say, api, push, folder, file, handOver: handText };
    trouble = (await receive(parts)) ?? unset;
  } else if (folder !== undefined && files > 0 && !push.payload) {
    await place.discard?.();
  } else if (!unset) {
    trouble = await handText(push, file);
  }
  if (context.stdout.isTTY) await tellRest();
  if (trouble) throw trouble;
}

async function nothingFor(job: Destination): Promise<CliError> {
  await job.discard();
  return new CliError('failed', 'the push has no text, so that nothing is set in the job');
}

async function onStdout(
  context: Context,
  options: GetOptions,
  push: Push,
  say: Terminal,
): Promise<CliError | undefined> {
  const { json, qr } = options;
  const drawing = qr
    ? await (await import('./get/qr-output')).drawn(context, options, push, say)
    : {};
  const bytes = forStdout(context, options, push);
  return deliver(context, { bytes, ...drawing, what: 'secret', push, json });
}

/** Exact bytes in a pipe; on a terminal harmless ones, and a final line end. */
function forStdout(context: Context, options: GetOptions, push: Push): string {
  const text = push.payload ?? '';
  if (options.json) return `${toJson(push)}\n`;
  return context.stdout.isTTY ? forTerminal(text) : text;
}

async function writeTo(
  place: Destination,
  text: string,
  context: Context,
  { output }: GetOptions,
  push: Push,
): Promise<CliError | undefined> {
  try {
    await patiently(() => place.commit(text), context.signal);
    return undefined;
  } catch (error) {
    if (!(error instanceof CliError)) {
      const { code } = error as NodeJS.ErrnoException;
      return rescued(
        context,
        text,
        'secret',
        `${output ?? 'a file of the job'} cannot be written (${code})`,
        push,
      );
    }
    const saved = await rescued(context, text, 'secret', error.message, push);
    const kept = saved.remains?.saved_to !== undefined || stillLeft(push) !== undefined;
    // A file that came to be meanwhile is no bad input; a text that the job cannot hold is.
    if (output !== undefined || error.code !== 'usage' || !kept) return saved;
    const hint = [error.hint, saved.hint].filter((one) => one !== undefined).join('; ');
    return new CliError('usage', saved.message, { hint, remains: saved.remains });
  }
}
