import { Command } from 'commander';
import { flag, group, switchOff, text } from '../cli/declare';
import { keyRows, type Options, passphraseRows, revealRows } from '../cli/options';
import { checkPassphrase, knownPassphrase } from '../cli/passphrase';
import { checkStandardInput } from '../cli/source';
import { count, left, usedBefore } from '../cli/terminal/wording';
import { deliverPush } from '../deliver/deliver-push';
import { lostPush } from '../deliver/download';
import { type OutputPlace, reserveOutput } from '../deliver/output-place';
import type { BegunDownload } from '../keep/interrupted-download';
import { newSafe } from '../keep/safekeeping';
import type { Context } from '../platform/context';
import { asCliError, usageError } from '../platform/errors';
import { type Session, withSession } from '../profile/session';
import { type PushKeys, readKeys } from '../take/decryption-keys';
import { openPush } from '../take/open-push';
import { retrieveFrom } from '../take/retrieve';
import type { Retrievable } from '../take/take-answer';
import { type SafeRun, type Taken, type Taking, takingOf, withPush } from '../take/taking';

export { default as help } from './help/get.txt?raw';

const OTHER_OUTPUTS = ['output', 'json', 'copy', 'qr'] as const;

const ciOnly = () =>
  usageError(
    'options for CI jobs cannot be combined with other outputs',
    'remove --output, --copy, --qr and --json',
  );

const rows = {
  ...group('Output:', {
    output: text('-o, --output <path>', 'write to a new file (0600) or into a folder'),
    files: switchOff('--no-files', 'do not download attached files'),
    resume: text('--resume <file>', 'finish an incomplete download, without a view').conflicts([
      'files',
    ]),
    fromFile: text('--from-file <file>', 'open a rescue file, or saved ciphertext').conflicts([
      'resume',
    ]),
    force: flag('--force', 'overwrite existing files'),
    copy: flag('-c, --copy', 'copy the text to the clipboard, do not print it').conflicts(
      ['output', 'json'],
      () => usageError('--copy cannot be combined with --output or --json', 'use only one of them'),
    ),
    qr: flag('--qr', 'draw the text as a QR code, do not print it').conflicts([
      'json',
      'copy',
      'output',
    ]),
    ...revealRows(),
  }),
  ...group('CI jobs:', {
    githubOutput: text(
      '--github-output <name>',
      'mask the text and make it an output of the step',
    ).conflicts(OTHER_OUTPUTS, ciOnly),
    githubEnv: text(
      '--github-env <name>',
      'mask the text and make it a variable of the job',
    ).conflicts(OTHER_OUTPUTS, ciOnly),
  }),
  ...passphraseRows,
  ...keyRows,
};

type GetOptions = Options<typeof rows>;

export function define(context: Context): Command {
  const command = new Command('get')
    .description('Get a secret: text to stdout, files to disk. Uses a view.')
    .argument('[link]', 'link, ID or last; not needed with a file');
  return withSession(command, context, rows, get);
}

/** Reserves the place, uses the view, and writes the push there or to a rescue file. */
async function get(session: Session<GetOptions>, link?: string): Promise<void> {
  const { context, options } = session;
  if (options.fromFile !== undefined) return getSaved(session, options.fromFile, link);
  const kept = await keptDownload(session, link);
  const wanted = link ?? kept?.link;
  if (wanted === undefined) throw usageError('missing LINK', 'pwpush get --help');
  checkPassphrase(options, context);
  checkStandardInput(options);
  const keys = await readKeys(options, context);
  const named = await session.connectTo(wanted);
  const passphrase = await knownPassphrase(options, context);
  // Where an interrupted run saved files, unless the command line says where.
  const place: OutputPlace =
    options.output === undefined && kept?.folder
      ? { resumed: kept.folder }
      : await reserveOutput(session, options);
  const run: SafeRun = { context, options, say: session.say, safe: newSafe(context) };
  let taking: Taking;
  try {
    const sealed = kept
      ? await resumed(run, named, kept)
      : await retrieveFrom(run, named, passphrase, keys);
    const given = { ...keys, linkKey: named.key, strict: place.job !== undefined };
    const whole = await opened(sealed, given, options.files);
    taking = kept ? withPush(whole, kept.rest(whole.taken.push)) : whole;
  } catch (error) {
    await place.discard?.();
    throw error;
  }
  const { taken } = taking;
  context.asked();
  // Before a text in a pipe: after it, stdout and stderr could run together in the same place.
  if (!context.stdout.isTTY) await noteRest(session, taken);
  const failure = await deliverPush({ ...taking, options, place }, options.files);
  if (context.stdout.isTTY) await noteRest(session, taken);
  // A failure that names another such file replaced this one.
  if (!failure || failure.remains?.saved_to !== undefined) kept?.remove();
  if (failure) throw failure;
  await place.clipboard?.finish(taking);
  const { key } = taken.answer ?? {};
  const unopened = !options.decrypt || (!options.files && taken.push.files?.length);
  if (!key || unopened) return;
  const { forgetKey } = await import('../keep/request-keys');
  await forgetKey(session.say, key);
}

/** Writes what a file has to the place; a link may give its key. */
async function getSaved(session: Session<GetOptions>, path: string, link?: string): Promise<void> {
  const { context, options } = session;
  checkStandardInput(options, path === '-' ? 'the encrypted text' : undefined);
  const linkKey = link === undefined ? undefined : (await session.reference(link)).key;
  const keys = { ...(await readKeys(options, context)), linkKey };
  const { takeSaved } = await import('../take/saved-ciphertext');
  const saved = await takeSaved(session, path);
  const place: OutputPlace = await reserveOutput(session, options);
  let taking: Taking;
  try {
    taking = await openPush(saved, keys);
  } catch (error) {
    await place.discard?.();
    throw error;
  }
  context.asked();
  const failure = await deliverPush({ ...taking, options, place }, options.files);
  if (failure) throw failure;
  await place.clipboard?.finish(taking);
}

async function keptDownload(session: Session<GetOptions>, link: string | undefined) {
  const { resume } = session.options;
  if (resume === undefined) return undefined;
  const { readKeptDownload } = await import('../keep/interrupted-download');
  const named = link === undefined ? undefined : await session.reference(link);
  return readKeptDownload(resume, session.context.uid, named?.token);
}

/** Takes what an interrupted run kept as if it had been retrieved now. */
async function resumed(
  run: SafeRun,
  named: Retrievable,
  { answer, link, partial, push }: BegunDownload,
): Promise<Taking> {
  const found = { link, partial, push, sealed: push };
  if (!answer) {
    const taken = { ...found, push: { ...push, earlier_views: null }, answer: undefined };
    return takingOf(run, named.api, taken);
  }
  const { keyForAnswer } = await import('../take/take-answer');
  const key = keyForAnswer(run.context, named, push.public_key);
  return takingOf(run, named.api, { ...found, answer: { key, publicKey: named.publicKey } });
}

/** Decrypts it; if that fails it is saved as it is, with its files unless they are not wanted. */
async function opened(sealed: Taking, keys: PushKeys, withFiles: boolean): Promise<Taking> {
  try {
    return await openPush(sealed, keys);
  } catch (error) {
    const { push } = sealed.taken;
    const taking = withFiles ? sealed : withPush(sealed, { ...push, files: [] });
    await sealed.safe.keep(lostPush(taking));
    throw sealed.safe.explain(asCliError(error));
  }
}

/** Says what of the push is left at the instance, and how many views were used before. */
async function noteRest({ context, options, say }: Session<GetOptions>, { push, answer }: Taken) {
  const files = push.files?.length ?? 0;
  if (files > 0 && !options.files)
    await say.remark(`${count(files, 'file')} not downloaded: see the links with --json`);
  const rest = answer
    ? ['answer deleted from the instance; the request is closed']
    : [left(push, context.now()), usedBefore(push)];
  for (const text of rest) if (text !== undefined) await say.remark(text);
}
