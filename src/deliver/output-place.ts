import { statSync } from 'node:fs';
import { isGuarded, refuseToPrint } from '../cli/agent';
import type { GlobalOptions } from '../cli/options';
import { boundedByInterrupt } from '../cli/terminal/bounded-write';
import { type Invocation, lookOf, toJson } from '../cli/terminal/output';
import { forTerminal } from '../cli/terminal/safe';
import { savedText } from '../cli/terminal/wording';
import type { Push } from '../contract/decode';
import type { Context } from '../platform/context';
import { CliError, failedError } from '../platform/errors';
import { codeOf } from '../platform/files/file-error';
import type { User } from '../platform/files/owner';
import type { Taken, Taking } from '../take/taking';
import type { CiOptions } from './ci-job';
import type { ClipboardDestination } from './clipboard-destination';
import type { Destination } from './destination';
import { printOrRescue } from './print-or-rescue';
import type { Folder } from './safe-name';

/** Where the command line sends a push. */
export interface OutputOptions extends GlobalOptions, CiOptions {
  readonly output?: string;
  readonly force: boolean;
  /** Whether files are written too. */
  readonly files: boolean;
  readonly copy: boolean;
  readonly qr: boolean;
  /** A file that an interrupted run kept. */
  readonly resume?: string;
}

/** Where a push will be written, reserved before it is fetched. Without any of these: stdout and the current folder. */
export interface OutputPlace {
  readonly folder?: string;
  /** Where an interrupted run saved files. */
  readonly resumed?: Folder | undefined;
  readonly file?: Destination;
  /** Files of a CI job. */
  readonly job?: Destination;
  readonly clipboard?: ClipboardDestination;
  /** Removes what was created to reserve it. */
  discard?(): Promise<void>;
}

/**
 * @param instead what to do where an agent would read the text
 * @throws CliError (usage) if the place is not available or one that an agent reads, or options contradict each other;
 * nothing was fetched then
 */
export async function reserveOutput(
  run: Invocation,
  options: OutputOptions,
  instead = 'use pwpush run, --output FILE or --copy',
): Promise<OutputPlace> {
  const { output } = options;
  if (await isGuarded(run.context)) await refusePrinted(run.context, options, instead);
  if ((options.githubOutput ?? options.githubEnv) !== undefined) {
    const { ciDestination } = await import('./ci-job');
    const job = await ciDestination(run, options);
    return { job, discard: job.discard };
  }
  if (options.copy) {
    const { clipboardDestination } = await import('./clipboard-destination');
    return { clipboard: await clipboardDestination(run) };
  }
  if (output === undefined || output === '-') return {};
  return reservePath(output, options, run.context.uid);
}

/**
 * Refuses places where an agent would read a text: standard output, terminals and open files.
 * @throws CliError (usage)
 */
export async function refusePrinted(
  context: Context,
  options: Omit<OutputOptions, keyof GlobalOptions | 'force' | 'qr'> & { readonly json: boolean },
  instead: string,
): Promise<void> {
  const { isStream } = await import('./destination');
  const { output = '-', copy, resume, githubOutput, githubEnv } = options;
  // Masking prints it.
  const masked = (githubOutput ?? githubEnv) !== undefined;
  // With --resume the text was written before, and the rest is files.
  const nowhere = copy || (resume !== undefined && options.output === undefined);
  if (masked || (!nowhere && isStream(output, context.uid)))
    await refuseToPrint(context, 'the secret', instead);
  else if (options.json && resume === undefined) {
    // The object goes to standard output with a folder, which a file becomes for a push with files.
    const isFolder = statSync(output, { throwIfNoEntry: false })?.isDirectory();
    if (options.files || isFolder || /[/\\]$/.test(output))
      await refuseToPrint(context, 'the secret', 'remove --json');
  }
}

/** A folder for text and files, made if it is missing, or a file for the text. With `--json` the text goes to stdout. */
async function reservePath(
  output: string,
  { force, json, resume }: Pick<OutputOptions, 'force' | 'json' | 'resume'>,
  user: User,
): Promise<OutputPlace> {
  const { linkTarget, reserveFile, reserveText } = await import('./destination');
  const made = await makeOutputFolder(output);
  if (!made) {
    const file = await reserveFile(output, force, user);
    return { file, discard: file.discard };
  }
  linkTarget(output, user);
  const discardFolders = async () => {
    const { rmdir } = await import('node:fs/promises');
    // Those that are no longer empty stay.
    for (const one of made) await rmdir(one).catch(() => {});
  };
  // With --resume the text was written before.
  if (json || resume !== undefined) return { folder: output, discard: discardFolders };
  const file = await reserveText(output, force, user);
  const discard = async () => {
    await file.discard();
    await discardFolders();
  };
  return { folder: output, file, discard };
}

/** The folders created for `path/`, innermost first; undefined if `path` names a file. */
async function makeOutputFolder(path: string): Promise<readonly string[] | undefined> {
  const { stat } = await import('node:fs/promises');
  const found = await stat(path).catch(() => undefined);
  if (found || !/[/\\]$/.test(path)) return found?.isDirectory() ? [] : undefined;
  const { foldersMissing, makeFolder } = await import('../platform/private-folder');
  const missing = foldersMissing(path);
  makeFolder(path);
  return missing;
}

export interface Delivery extends Taking {
  readonly options: OutputOptions;
  readonly place: OutputPlace;
}

/**
 * Writes the text of a push, or with `--json` the object, to where it goes, or saves it.
 * @param file the file for it, unless it goes to a CI job or the clipboard; stdout if left out
 */
export async function deliverText(
  delivery: Delivery,
  push: Push,
  file: Destination | undefined,
): Promise<CliError | undefined> {
  const { place, options, say } = delivery;
  const destination = place.job ?? place.clipboard ?? file;
  if (!destination) return printText(delivery, push);
  const bytes = options.json ? `${toJson(jsonOf(delivery.taken, push))}\n` : (push.payload ?? '');
  const failure = await writeTo(delivery, destination, bytes);
  if (failure || destination.inFolder === undefined) return failure;
  await say.note(savedText(destination.inFolder, Buffer.byteLength(bytes), undefined));
  return undefined;
}

/** The object of the instance: an answer is the `response` of its request. */
function jsonOf({ answer }: Taken, push: Push): object {
  if (!answer) return push;
  const { payload, ...request } = push;
  return { ...request, response: payload };
}

async function printText(delivery: Delivery, push: Push): Promise<CliError | undefined> {
  const { context, options, safe } = delivery;
  const text = push.payload ?? '';
  const why = text === '' ? undefined : await context.guard?.();
  if (why !== undefined) {
    // It was for a folder that is gone, or the like.
    await safe.keep({ what: 'secret', bytes: text, push });
    return safe.explain(failedError(`the text is not printed: ${why}`));
  }
  const result = { what: 'secret', push, json: options.json } as const;
  if (options.json)
    return printOrRescue(delivery, {
      ...result,
      bytes: `${toJson(jsonOf(delivery.taken, push))}\n`,
    });
  const drawing = options.qr ? await qrDrawing(delivery, text) : undefined;
  if (drawing !== undefined)
    return printOrRescue(delivery, { ...result, bytes: drawing, saved: text });
  // Exact bytes in a pipe; on a terminal control characters are made visible, and the line is ended.
  const bytes = context.stdout.isTTY ? forTerminal(text) : text;
  return printOrRescue(delivery, { ...result, bytes });
}

/** The text as a QR code for stdout; undefined, with a warning, if it is too long or the terminal too small. */
async function qrDrawing(
  { context, options, say }: Delivery,
  text: string,
): Promise<string | undefined> {
  const { qrCode } = await import('../cli/terminal/qr');
  const look = await lookOf(context.stdout, context.env, context.now(), options.color);
  const code = qrCode(text, look);
  if ('drawing' in code) return code.drawing;
  await say.warn(code.problem);
  return undefined;
}

async function writeTo(
  { context, options: { output }, safe, taken: { push } }: Delivery,
  destination: Destination,
  bytes: string,
): Promise<CliError | undefined> {
  try {
    await boundedByInterrupt(destination.commit(bytes), context.signal);
    return undefined;
  } catch (error) {
    const where = output === undefined ? 'a file of the job' : `"${output}"`;
    const problem =
      error instanceof CliError ? error.message : `cannot write ${where} (${codeOf(error)})`;
    await safe.keep({ what: 'secret', bytes, push });
    return safe.explain(failedError(problem));
  }
}
