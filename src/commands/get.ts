import { Command } from 'commander';
import type { Api } from '../api/client';
import type { Push } from '../api/contract';
import { connectTo } from '../connect';
import type { Context } from '../context';
import { CliError } from '../errors';
import { addGlobalOptions, type GlobalOptions, optionsOf } from '../options';
import { type Destination, deliver, rescued, reserveFile } from '../secret/destination';
import { askPassphrase, checkPassphrase, readPassphrase } from '../secret/passphrase';
import { type Terminal, terminal, toJson } from '../terminal/output';
import { left } from '../terminal/push';
import { safeLines } from '../terminal/safe';

interface GetOptions extends GlobalOptions {
  readonly link: string;
  readonly output?: string;
  readonly force: boolean;
  readonly passphrase: boolean;
  readonly passphraseFile?: string;
  readonly passphraseEnv?: string;
}

const TRIES = 3;

const EXAMPLES = `
The text goes to stdout, byte for byte in a pipe; on a terminal its control
characters are made visible. Retrieving takes a view, unless the push is your
own and your token goes along.

Examples:
  $ pwpush get https://pwpush.example/p/abc123def456
  $ pwpush get abc123def456 --output id_ed25519
  $ PWPUSH_PASSPHRASE=… pwpush get "$LINK" | docker login --password-stdin …`;

export function getCommand(context: Context): Command {
  const command = new Command('get')
    .description('Retrieve a push: its text to stdout. Takes a view.')
    .argument('<link>', 'link or token of the push')
    .option('-o, --output <path>', 'write the text to a file (0600); - is stdout')
    .option('--force', 'overwrite an existing file')
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

const DEFAULTS = { force: false, passphrase: false };

/** Makes sure of the place the text goes to, takes the view, and gets the text there or to a rescue file. */
export async function get(context: Context, options: GetOptions): Promise<void> {
  checkPassphrase(options, context);
  const { api, reference } = await connectTo(context, options, options.link);
  const passphrase =
    (await readPassphrase(options, context, false)) ?? (context.env.PWPUSH_PASSPHRASE || undefined);
  const toFile = options.output !== undefined && options.output !== '-';
  const file = toFile ? await reserveFile(options.output ?? '', options.force) : undefined;
  let push: Push;
  try {
    push = await retrieve(api, reference.token, passphrase, context);
  } catch (error) {
    await file?.discard();
    throw await withUnread(context, error);
  }
  await handOver(context, options, terminal(context, options), push, file);
}

/** An answer that made no sense may hold the secret all the same: it is saved before the error is told. */
async function withUnread(context: Context, error: unknown): Promise<unknown> {
  if (!(error instanceof CliError) || error.unread === undefined) return error;
  const saved = await rescued(context, error.unread, 'answer', error.message);
  const { hint, status, cause } = { hint: saved.hint, status: error.status, cause: error };
  return new CliError(error.code, saved.message, { hint, status, cause, mustBeTold: true });
}

/** Asks for the passphrase where the instance wants one and somebody is there: three tries. */
async function retrieve(
  api: Api,
  token: string,
  passphrase: string | undefined,
  context: Context,
): Promise<Push> {
  let given = passphrase;
  for (let tries = TRIES; ; tries--) {
    try {
      return readable(await api.retrieve(token, given));
    } catch (error) {
      const ask =
        error instanceof CliError && error.code === 'passphrase' && passphrase === undefined;
      if (!ask || tries === 0 || !context.canPrompt()) throw error;
      given = await askPassphrase(
        context,
        false,
        given === undefined ? undefined : 'Wrong. Passphrase:',
      );
    }
  }
}

/** An expired push answers with 200 and no payload (wire.md, "Endpoints"). */
function readable(push: Push): Push {
  const files = (push.files ?? []).length > 0;
  if (files || push.payload) return push;
  if (push.expired === true) {
    throw new CliError('expired', 'the push has expired', {
      hint: 'ask whoever sent it for a new one',
    });
  }
  if (typeof push.payload === 'string') return push;
  throw new CliError('failed', 'the instance answered a push without a text');
}

async function handOver(
  context: Context,
  options: GetOptions,
  say: Terminal,
  push: Push,
  file: Destination | undefined,
): Promise<void> {
  const text = push.payload ?? '';
  const trouble = file
    ? await writeFile(context, options, file, options.json ? `${toJson(push)}\n` : text)
    : await deliver(context, {
        bytes: forStdout(context, options, push, text),
        what: 'secret',
        json: options.json,
      });
  const files = push.files?.length ?? 0;
  if (files > 0)
    await say.warn(
      `${files} attached file${files === 1 ? ' was' : 's were'} not downloaded: see their addresses with --json`,
    );
  const rest = left(push);
  if (rest !== undefined) await say.note(rest);
  if (trouble) throw trouble;
}

/** Exact bytes in a pipe; on a terminal harmless ones, and a final line end. */
function forStdout(context: Context, options: GetOptions, push: Push, text: string): string {
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
    await file.commit(text);
    return undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const problem =
      error instanceof CliError ? error.message : `${options.output} cannot be written (${code})`;
    return rescued(context, text, 'secret', problem);
  }
}
