import { Command, Option } from 'commander';
import type { Api } from '../api/client';
import { type Kind, kinds, type NewPush, type Push } from '../api/contract';
import { type Difference, differences, differenceText } from '../api/limits';
import { findLink } from '../api/link';
import { notification } from '../api/recipients';
import { type Connection, connect, targetOf } from '../connect';
import type { Context } from '../context';
import { CliError, usageError } from '../errors';
import { addGlobalOptions, type GlobalOptions, optionsOf, positive } from '../options';
import type { Profile, Target } from '../profile/profile';
import { deliver } from '../secret/deliver';
import { checkPassphrase, readPassphrase } from '../secret/passphrase';
import type { Sending } from '../secret/sending';
import { chooseSource, readSecret, type Source } from '../secret/source';
import { drawQr, type Terminal, terminal, toJson } from '../terminal/output';
import { dryRunText, granted } from '../terminal/push';

export interface PushOptions extends GlobalOptions {
  readonly text?: string;
  readonly from?: string;
  readonly env?: string;
  readonly generate?: string | true;
  /** Paths; `-` is standard input. */
  readonly file?: readonly string[];
  readonly filename?: string;
  readonly message?: string;
  readonly raw: boolean;
  readonly kind?: Kind;
  readonly days?: number;
  readonly views?: number;
  readonly deletable?: boolean;
  readonly retrievalStep?: boolean;
  readonly passphrase: boolean;
  readonly passphraseFile?: string;
  readonly passphraseEnv?: string;
  readonly name?: string;
  readonly note?: string;
  readonly notify?: readonly string[];
  readonly notifyLocale?: string;
  readonly qr: boolean;
  readonly dryRun: boolean;
  readonly acceptLimits: boolean;
}

const EXAMPLES = `
The secret comes from standard input, or from one of [text], --from, --env,
--generate and --file; on a terminal, without any of them, it is asked for.
Piped input of one line loses its line end. Up to 10 files go along with --file;
--message is a text to go with them.

Examples:
  $ pwpush push                                    asks for the secret, hidden
  $ pwgen 24 1 | pwpush push --views 1             the link alone on stdout
  $ pwpush push --from id_ed25519 --days 1 -p      a file's text, with a passphrase
  $ pwpush push --env DB_PASSWORD --json           from a variable, for a script
  $ pwpush push -f report.pdf scan.png             files, of any size
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
    .option('--generate [length]', 'push a new random password (24 characters)')
    .option('-f, --file <path...>', 'attach files, up to 10; - is standard input')
    .option('--filename <name>', 'what to call the file that --file - reads')
    .option('--message <text>', 'text to go with files; visible like [text]')
    .option('--raw', 'keep the line end of piped input of one line')
    .addOption(new Option('--kind <kind>', 'kind of push').choices(kinds))
    .option('-d, --days <n>', 'expire after so many days', positive('--days'))
    .option('-v, --views <n>', 'expire after so many views', positive('--views'))
    .option('--deletable', 'the recipient may delete the push')
    .option('--no-deletable', 'the recipient may not delete the push')
    .option('--retrieval-step', 'show the secret after a click only, against link scanners')
    .option('--no-retrieval-step', 'show the secret at once')
    .option('-p, --passphrase', 'ask for a passphrase to protect the push with')
    .option('--passphrase-file <path>', 'read the passphrase from a file; - is standard input')
    .option('--passphrase-env <name>', 'read the passphrase from a variable')
    .option('-n, --name <name>', 'label, shown to you in lists')
    .option('--note <text>', 'note, visible to you only')
    .option('--notify <email...>', 'have the instance e-mail the link to these, up to 5')
    .option('--notify-locale <language>', 'language of that e-mail, such as de')
    .option('--qr', 'draw the link as a QR code on stderr')
    .option('--dry-run', 'show what would be sent, secrets masked, and send nothing')
    .option('--accept-limits', 'keep the push when the instance granted looser limits than asked')
    .addHelpText('after', EXAMPLES)
    .action((text: string | undefined) => {
      const options = optionsOf(command, context.env, DEFAULTS);
      return push(context, text === undefined ? options : { ...options, text });
    });
  return addGlobalOptions(command);
}

const DEFAULTS = { raw: false, passphrase: false, qr: false, dryRun: false, acceptLimits: false };

/** Reads the secret, creates the push, checks what was granted, and gets the link to the user. */
export async function push(context: Context, options: PushOptions): Promise<void> {
  checkOptions(options, context);
  const source = sourceOf(options, context);
  const target = targetOf(context, options);
  const say = terminal(context, options);
  if ((options.text ?? '-') !== '-' || options.message !== undefined)
    await say.remark(
      'hint: text on the command line can be read by other users of this machine; pipe the secret in instead',
    );
  const sending = await openFiles(context, options, say);
  try {
    const payload = source ? await readSecret(source, options, context) : options.message;
    if (source?.name === 'generate') await say.remark(`generated: ${payload}`);
    const passphrase = await readPassphrase(options, context, true);
    const request = requestOf(payload, passphrase, options, target.defaults);
    if (options.dryRun) return await dryRun(target, request, sending, options, say);
    const connection = await connect(context, options);
    const started = context.now();
    const creating = sending?.create(connection.api, request) ?? connection.api.create(request);
    const created = await creating.catch(async (error) => {
      if (!(error instanceof CliError)) throw error;
      const { unanswered } = await import('./push/unanswered');
      throw await unanswered(context, options, connection, request, started, error);
    });
    await finish(context, options, say, connection, request, created);
  } finally {
    await sending?.close();
  }
}

/** Where the text comes from; undefined when it is files that are pushed. */
function sourceOf(options: PushOptions, context: Context): Source | undefined {
  const { stdin } = context;
  const attached = options.file !== undefined;
  // With files standard input is no source, and nobody is asked.
  const source = chooseSource(options, attached || stdin.isTTY, attached || context.canPrompt());
  if (attached && source.name !== 'prompt')
    throw usageError(
      'files are attached, and the secret would come from another place too',
      'a text to go with files is given with --message TEXT',
    );
  const reads = attached ? options.file.includes('-') : source.name === 'stdin';
  if (reads && options.passphraseFile === '-')
    throw usageError(
      'standard input cannot be both the secret and the passphrase',
      'use --passphrase-file PATH',
    );
  return attached ? undefined : source;
}

/** The code for files is loaded where there are some. */
async function openFiles(
  context: Context,
  options: PushOptions,
  say: Terminal,
): Promise<Sending | undefined> {
  if (options.file === undefined) return undefined;
  const { openSending } = await import('../secret/sending');
  return openSending(context, { ...options, paths: options.file }, say);
}

async function dryRun(
  target: Target,
  request: NewPush,
  sending: Sending | undefined,
  options: PushOptions,
  say: Terminal,
): Promise<void> {
  if (!sending) return say.printText(dryRunText(target, request, options.json));
  const { dryRunFilesText } = await import('../terminal/files');
  return say.printText(dryRunFilesText(target, request, sending.files, options.json));
}

function checkOptions(options: PushOptions, context: Context): void {
  checkPassphrase(options, context);
  if (options.notify) notification(options.notify, options.notifyLocale);
  else if (options.notifyLocale !== undefined)
    throw usageError('--notify-locale goes with --notify EMAIL');
  const { file, kind, message, filename } = options;
  if (file !== undefined) {
    if (kind !== undefined && kind !== 'file')
      throw usageError(`--kind ${kind} takes no files`, 'leave --kind out, or push without --file');
    if (message === '') throw usageError('the message is empty', 'leave --message out');
    return;
  }
  if (kind === 'file') throw usageError('--kind file needs files', 'name them with --file PATH');
  if (message !== undefined)
    throw usageError('--message goes with files', 'a text alone is piped in, or given as [text]');
  if (filename !== undefined)
    throw usageError('--filename names what --file - reads, and there is no --file -');
}

/** What was asked for, and nothing else: what is left out gets the profile's or the instance's default. */
function requestOf(
  payload: string | undefined,
  passphrase: string | undefined,
  options: PushOptions,
  profile: Profile | undefined,
): NewPush {
  const { kind, name, note } = options;
  const days = options.days ?? profile?.days;
  const views = options.views ?? profile?.views;
  const deletable = options.deletable ?? profile?.deletable;
  const step = options.retrievalStep ?? profile?.['retrieval-step'];
  return {
    ...(payload === undefined ? {} : { payload }),
    ...(kind === undefined ? {} : { kind }),
    ...(days === undefined ? {} : { expire_after_days: days }),
    ...(views === undefined ? {} : { expire_after_views: views }),
    ...(deletable === undefined ? {} : { deletable_by_viewer: deletable }),
    ...(step === undefined ? {} : { retrieval_step: step }),
    ...(passphrase === undefined ? {} : { passphrase }),
    ...(name === undefined ? {} : { name }),
    ...(note === undefined ? {} : { note }),
    ...(options.notify ? notification(options.notify, options.notifyLocale) : {}),
  };
}

/** From here on a push exists: whatever fails, its link must not get lost. */
async function finish(
  context: Context,
  options: PushOptions,
  say: Terminal,
  { api, target }: Connection,
  request: NewPush,
  created: Push,
): Promise<void> {
  const { link, doubt } = await findLink(api, target.base, created);
  const found = differences(request, created);
  const looser = found.filter((one) => one.looser);
  if (looser.length > 0 && !options.acceptLimits) throw await revoke(api, created, link, looser);
  const text = options.json ? toJson({ ...created, html_url: link }) : link;
  const trouble = await deliver(context, {
    bytes: `${text}\n`,
    what: 'link',
    link,
    json: options.json,
  });
  if (doubt !== undefined) await say.warn(doubt);
  for (const one of found) await say.warn(`the instance changed a limit: ${differenceText(one)}`);
  if (options.notify && !created.notify_emails_to)
    await say.warn('the instance does not say that it sends e-mail: send the link yourself');
  if (options.qr) await drawQr(say, link);
  const owned = target.token !== undefined;
  await say.remark(granted(created, request.passphrase !== undefined, owned));
  if (trouble) throw trouble;
}

/** Takes back a push that would live longer than asked, and makes the error that says so. */
async function revoke(
  api: Api,
  created: Push,
  link: string,
  looser: readonly Difference[],
): Promise<CliError> {
  const what = `the instance granted looser limits than asked: ${looser.map(differenceText).join('; ')}`;
  try {
    if (created.url_token === '') throw new CliError('failed', 'the instance told no token');
    await api.expire(created.url_token);
  } catch (error) {
    return new CliError(
      'rejected',
      `${what}; and expiring the push again FAILED, so the secret can still be read at ${link}`,
      {
        hint: 'expire it yourself: open the link and delete it, or run pwpush expire with a token',
        cause: error,
        remains: { link, expired: false },
      },
    );
  }
  return new CliError('rejected', `${what}; the push was expired again`, {
    hint: 'ask for limits within what the instance takes, or keep such a push with --accept-limits',
    remains: { link, expired: true },
  });
}
