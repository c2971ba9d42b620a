import type { Context } from '../../context';
import type { NewPush } from '../../contract';
import { CliError, usageError } from '../../errors';
import { checkPassphrase, offerPassphrase, readPassphrase } from '../../input/passphrase';
import type { Sending } from '../../input/sending';
import { checkStandardInput, chooseSource, readSecret, type Source } from '../../input/source';
import { NO_INSTANCE, type Target } from '../../profile/target';
import { connect, targetOf, wishesOf } from '../../session';
import { type Terminal, terminal } from '../../terminal/output';
import type { PushOptions } from '../push';
import { checkCompanions, requestOf } from './request';
import { settle, tell } from './result';

/** Reads the secret, creates the push, checks what was granted, and gets the link to the user. */
export async function pushOne(context: Context, options: PushOptions): Promise<void> {
  checkOptions(options, context);
  const source = sourceOf(options, context);
  // What is served from here has no instance, and no profile of one.
  const chosen = options.here ? undefined : await targetOrOffer(context, options);
  if (chosen === 'here') return pushOne(context, { ...options, here: true });
  const target = chosen;
  const say = terminal(context, options);
  if ((options.text ?? '-') !== '-' || options.message !== undefined)
    await say.remark(
      'hint: text on the command line can be read by other users of this machine; pipe the secret in instead',
    );
  const sending = await openFiles(context, options, say);
  try {
    const payload = source ? await readSecret(source, options, context) : options.message;
    if (source?.name === 'generate') await say.remark(`generated: ${payload}`);
    const given = await passphraseFor(options, context, source);
    context.asked();
    const asked = (made?: string) => requestOf(payload, made ?? given, options, target?.defaults);
    if (!target) {
      const { pushHere } = await import('./here');
      return await pushHere(context, options, asked, sending?.files ?? []);
    }
    if (!options.dryRun) return await send(context, options, say, target, asked, sending);
    const masked = asked(options.generatePassphrase ? '' : undefined);
    await dryRun(target, masked, sending, options, say);
  } finally {
    await sending?.close();
  }
}

/** Where to push; with nothing configured somebody at a terminal may make up for it, or serve the push from here. */
async function targetOrOffer(context: Context, options: PushOptions): Promise<Target | 'here'> {
  const wishes = wishesOf(context, options);
  try {
    return await targetOf(context, wishes);
  } catch (error) {
    if (!(error instanceof CliError) || error.message !== NO_INSTANCE) throw error;
    const { stdin, stderr } = context;
    const watched = stdin.isTTY && stderr.isTTY && context.canPrompt();
    if (!watched || options.json || options.dryRun) throw error;
    const { offer } = await import('./offer');
    return (await offer(context, options, wishes)) ?? (await targetOf(context, wishes));
  }
}

/** Who types the secret is offered a passphrase too. */
function passphraseFor(options: PushOptions, context: Context, source: Source | undefined) {
  const said =
    options.passphrase ||
    options.generatePassphrase ||
    options.passphraseFile !== undefined ||
    options.passphraseEnv !== undefined;
  if (source?.name === 'prompt' && !said) return offerPassphrase(context);
  return readPassphrase(options, context, true);
}

/** Creates the push, with the passphrase that is made up for it where that is asked for. */
async function send(
  context: Context,
  options: PushOptions,
  say: Terminal,
  target: Target,
  asked: (passphrase?: string) => NewPush,
  sending: Sending | undefined,
): Promise<void> {
  const connection = await connect(context, options, target);
  const generated = options.generatePassphrase
    ? await (await import('./new-passphrase')).newPassphrase(context, options)
    : undefined;
  const request = asked(generated?.passphrase);
  const started = context.now();
  const creating = sending?.create(connection.api, request) ?? connection.api.create(request);
  const created = await creating.catch(async (error) => {
    await generated?.withdraw(error);
    if (!(error instanceof CliError)) throw error;
    const { unanswered } = await import('./unanswered');
    throw await unanswered(context, options, connection, request, started, error);
  });
  const made = await settle(connection, request, created, options);
  const trouble = await tell(context, options, say, made);
  if (trouble) throw trouble;
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
  checkStandardInput(options, reads ? 'the secret' : undefined);
  return attached ? undefined : source;
}

/** The code for files is loaded where there are some. */
async function openFiles(
  context: Context,
  options: PushOptions,
  say: Terminal,
): Promise<Sending | undefined> {
  if (options.file === undefined) return undefined;
  const { openSending } = await import('../../input/sending');
  return openSending(context, { ...options, paths: options.file }, say);
}

async function dryRun(
  target: Target,
  request: NewPush,
  sending: Sending | undefined,
  options: PushOptions,
  say: Terminal,
): Promise<void> {
  const { dryRunText } = await import('../../terminal/dry-run');
  return say.printText(dryRunText(target, request, options.json, sending?.files));
}

function checkOptions(options: PushOptions, context: Context): void {
  checkPassphrase(options, context);
  checkCompanions(options);
  if (options.concurrency !== undefined) throw usageError('--concurrency goes with --each');
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
