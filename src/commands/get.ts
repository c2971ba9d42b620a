import { stat } from 'node:fs/promises';
import { Command } from 'commander';
import type { Api } from '../api/client';
import type { Push } from '../api/contract';
import { connectTo } from '../connect';
import type { Context } from '../context';
import { CliError } from '../errors';
import { addGlobalOptions, type GlobalOptions, optionsOf } from '../options';
import { patiently } from '../patience';
import { deliver } from '../secret/deliver';
import { type Destination, reserveFile } from '../secret/destination';
import { checkPassphrase, knownPassphrase } from '../secret/passphrase';
import { rescued } from '../secret/rescue';
import { retrieve } from '../secret/retrieve';
import { terminal, toJson } from '../terminal/output';
import { left } from '../terminal/push';
import { safeLines } from '../terminal/safe';
import { count } from '../terminal/time';

interface GetOptions extends GlobalOptions {
  readonly link: string;
  readonly output?: string;
  /** False with `--no-files`. */
  readonly files: boolean;
  readonly force: boolean;
  readonly passphrase: boolean;
  readonly passphraseFile?: string;
  readonly passphraseEnv?: string;
}

const EXAMPLES = `
The text goes to stdout, byte for byte in a pipe; on a terminal its control
characters are made visible. Files are saved to the current folder under safe
names; where a name is taken " (2)" is added. Retrieving takes a view, unless
the push is your own and your token goes along.

Examples:
  $ pwpush get https://pwpush.example/p/abc123def456
  $ pwpush get abc123def456 --output id_ed25519
  $ pwpush get abc123def456 --output inbox/           files into a folder
  $ pwpush get abc123def456 --output - | tar xz       the one file to stdout
  $ PWPUSH_PASSPHRASE=… pwpush get "$LINK" | docker login --password-stdin …`;

export function getCommand(context: Context): Command {
  const command = new Command('get')
    .description('Retrieve a push: its text to stdout, its files to disk. Takes a view.')
    .argument('<link>', 'link or token of the push')
    .option(
      '-o, --output <path>',
      'write the text to a file (0600), or files into a folder; - is stdout',
    )
    .option('--no-files', 'leave attached files where they are')
    .option('--force', 'overwrite existing files')
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

const DEFAULTS = { files: true, force: false, passphrase: false };

/** Makes sure of the place the text goes to, takes the view, and gets the text there or to a rescue file. */
export async function get(context: Context, options: GetOptions): Promise<void> {
  checkPassphrase(options, context);
  const { api, reference } = await connectTo(context, options, options.link);
  const passphrase = await knownPassphrase(options, context);
  const place = await placeFor(options);
  let push: Push;
  try {
    push = await retrieve(api, reference.token, passphrase, context);
  } catch (error) {
    await place.file?.discard();
    throw error;
  }
  await handOver(context, options, push, place, api);
}

/** What `--output` names, as far as it can be made sure of before it is known whether files come. */
interface Place {
  readonly folder?: string;
  readonly file?: Destination;
}

async function placeFor({ output, files, force }: GetOptions): Promise<Place> {
  if (output === undefined || output === '-') return {};
  if (files && (await isFolder(output))) return { folder: output };
  return { file: await reserveFile(output, force) };
}

/** A folder, or what is spelled as one and can be made one. */
async function isFolder(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  if (found || !/[/\\]$/.test(path)) return found?.isDirectory() ?? false;
  const { makeFolder } = await import('../profile/folder');
  makeFolder(path);
  return true;
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
  const handText = (text: Push, file: Destination | undefined) =>
    file
      ? writeFile(context, options, file, json ? `${toJson(text)}\n` : (text.payload ?? ''))
      : deliver(context, { bytes: forStdout(context, options, text), what: 'secret', json });
  const files = push.files?.length ?? 0;
  const { folder, file } = place;
  const trouble =
    files > 0 && options.files
      ? await (await import('../secret/receive')).receive({
          ...{ context, options, say, api, push, folder, file },
          handOver: handText,
        })
      : await handText(push, file);
  if (files > 0 && !options.files)
    await say.note(`${count(files, 'file')} left where they are: see their addresses with --json`);
  const rest = left(push);
  if (rest !== undefined) await say.note(rest);
  if (trouble) throw trouble;
}

/** Exact bytes in a pipe; on a terminal harmless ones, and a final line end. */
function forStdout(context: Context, options: GetOptions, push: Push): string {
  const text = push.payload ?? '';
  if (options.json) return `${toJson(push)}\n`;
  if (!context.stdout.isTTY) return text;
  return safeLines(text) + (text.endsWith('\n') ? '' : '\n');
}

async function writeFile(
  context: Context,
  options: GetOptions,
  file: Destination,
  text: string,
): Promise<CliError | undefined> {
  try {
    await patiently(() => file.commit(text), context.signal);
    return undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const problem =
      error instanceof CliError ? error.message : `${options.output} cannot be written (${code})`;
    return rescued(context, text, 'secret', problem);
  }
}
