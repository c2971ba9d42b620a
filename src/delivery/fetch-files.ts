import { basename } from 'node:path';
import type { PushFile } from '../contract';
import { CliError } from '../errors';
import { asCliError } from '../terminal/error-message';
import { savedText } from '../terminal/push-text';
import { type Meter, meterFor } from '../terminal/transfer-meter';
import { type DownloadTools, type SavedFile, saveFile } from './download';
import type { Folder } from './new-file';
import type { RetrievedPush } from './retrieve';
import { safeName } from './safe-name';

export interface FetchedFiles {
  /** In the order of the push's files; undefined for those that failed. */
  readonly saved: readonly (SavedFile | undefined)[];
  readonly failure: CliError | undefined;
}

/** Downloads every file of a push into a folder, one after the other; does not reject if one fails. */
export async function fetchFiles(retrieved: RetrievedPush, folder: Folder): Promise<FetchedFiles> {
  const { context, options, say, push } = retrieved;
  const files = push.files ?? [];
  const meter = meterFor(context, options, { files: files.length, total: undefined });
  const saved: (SavedFile | undefined)[] = [];
  const failures: CliError[] = [];
  for (const [at, file] of files.entries()) {
    const name = safeName(file.filename, folder.named);
    const tools = toolsFor(retrieved, meter, at, name);
    const outcome = await attempt(() => saveFile(file, folder, tools));
    if (!(outcome instanceof CliError)) saved[at] = outcome;
    if (context.signal.aborted) break;
    await meter.clear();
    if (outcome instanceof CliError) {
      failures.push(outcome);
      if (files.length > 1) await say.warn(`${name}: ${outcome.message}`);
    } else {
      await say.note(savedNote(outcome, name));
    }
  }
  const summary = await meter.ends();
  if (context.signal.aborted) return { saved, failure: new CliError('interrupted', 'interrupted') };
  if (summary !== undefined) await say.note(summary);
  return { saved, failure: downloadFailure(failures, files, folder) };
}

function savedNote({ path, bytes }: SavedFile, wanted: string): string {
  return savedText(path, bytes, basename(path) === wanted ? undefined : wanted);
}

/** Returns the error instead of throwing it, even that of a bug, so that the rest of the push is still saved. */
export async function attempt<T>(work: () => Promise<T>): Promise<T | CliError> {
  try {
    return await work();
  } catch (error) {
    return asCliError(error);
  }
}

/**
 * @param at the index of the file in the push
 * @param name what progress and notes call it
 */
export function toolsFor(
  { api, context, say }: RetrievedPush,
  meter: Meter,
  at: number,
  name: string,
): DownloadTools {
  return {
    api,
    signal: context.signal,
    sleep: context.sleep,
    progress: { begins: (length) => meter.begins(at, name, length), moved: meter.moved },
    again: async (failure, seconds) => {
      await meter.clear();
      await say.note(`trying ${name} again in ${seconds} s: ${failure.message}`);
    },
  };
}

const HINT =
  'links to files usually work for minutes only; pwpush get asks for new ones, and uses another view';

function downloadFailure(
  failures: readonly CliError[],
  files: readonly PushFile[],
  { named }: Folder,
): CliError | undefined {
  const [first] = failures;
  if (!first) return undefined;
  const code = failures.every((one) => one.code === 'unreachable') ? 'unreachable' : 'failed';
  const what =
    files.length === 1
      ? `${safeName(files[0]?.filename ?? '', named)} was not saved: ${first.message}`
      : `${failures.length} of ${files.length} files were not saved`;
  const hint = files.length === 1 && first.hint !== undefined ? `${first.hint}; ${HINT}` : HINT;
  return new CliError(code, what, { hint, cause: first });
}
