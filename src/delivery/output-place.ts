import { rmdir, stat } from 'node:fs/promises';
import { usageError } from '../errors';
import type { GlobalOptions } from '../options';
import type { Invocation } from '../terminal/output';
import type { CiOptions } from './ci-job';
import type { ClipboardDestination } from './clipboard-destination';
import type { Destination } from './destination';

/** Where the command line sends a push. */
export interface OutputOptions extends GlobalOptions, CiOptions {
  readonly output?: string;
  readonly force: boolean;
  readonly copy: boolean;
  /** Seconds. */
  readonly clearAfter?: number;
  readonly qr: boolean;
}

/** Where a push will be written, reserved before it is fetched. Without any of these: stdout and the current folder. */
export interface OutputPlace {
  readonly folder?: string;
  readonly file?: Destination;
  /** Files of a CI job. */
  readonly job?: Destination;
  readonly clipboard?: ClipboardDestination;
  /** Removes what was created to reserve it. */
  discard?(): Promise<void>;
}

const ciOptions = ['githubOutput', 'githubEnv', 'gitlabDotenv', 'as', 'only', 'allow'] as const;

/** @throws CliError (usage) if the place is not available, or options contradict each other; nothing was fetched then */
export async function reserveOutput(run: Invocation, options: OutputOptions): Promise<OutputPlace> {
  const { output, json } = options;
  checkQr(options);
  if (ciOptions.some((name) => options[name] !== undefined)) {
    if (output !== undefined || json || options.copy || options.qr)
      throw usageError(
        'the text goes to the CI job, and not to another place too',
        'leave out --output, --copy, --qr and --json',
      );
    const { ciDestination } = await import('./ci-job');
    const job = await ciDestination(run, options);
    return job ? { job, discard: job.discard } : {};
  }
  if (options.copy || options.clearAfter !== undefined) {
    const { clipboardDestination } = await import('./clipboard-destination');
    return { clipboard: await clipboardDestination(run, options) };
  }
  if (output === undefined || output === '-') return {};
  return reservePath(output, options);
}

/** A QR code replaces the text on stdout. */
function checkQr({ qr, json, copy, output = '' }: OutputOptions): void {
  const other = json ? '--json' : copy ? '--copy' : output === '' ? undefined : '--output';
  if (qr && other) throw usageError(`--qr does not go with ${other}`, 'leave one out');
}

/** A folder for text and files, made if it is missing, or a file for the text. With `--json` the text goes to stdout. */
async function reservePath(
  output: string,
  { force, json }: Pick<OutputOptions, 'force' | 'json'>,
): Promise<OutputPlace> {
  const made = await makeOutputFolder(output);
  const { reserveFile, reserveText } = await import('./destination');
  if (!made) {
    const file = await reserveFile(output, force);
    return { file, discard: file.discard };
  }
  const discardFolders = async () => {
    // Those that are no longer empty stay.
    for (const one of made) await rmdir(one).catch(() => {});
  };
  if (json) return { folder: output, discard: discardFolders };
  const file = await reserveText(output, force);
  const discard = async () => {
    await file.discard();
    await discardFolders();
  };
  return { folder: output, file, discard };
}

/** The folders created for `path/`, innermost first; undefined if `path` names a file. */
async function makeOutputFolder(path: string): Promise<readonly string[] | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (found || !/[/\\]$/.test(path)) return found?.isDirectory() ? [] : undefined;
  const { foldersMissing, makeFolder } = await import('../system/private-folder');
  const missing = foldersMissing(path);
  makeFolder(path);
  return missing;
}
