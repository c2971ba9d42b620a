import { basename } from 'node:path';
import type { PushFile } from '../contract';
import { CliError } from '../errors';
import { asCliError } from '../terminal/error-message';
import { savedText } from '../terminal/push-text';
import { type Meter, meterFor } from '../terminal/transfer-meter';
import { type Saved, saveFile, type Tools } from './download';
import type { Folder } from './new-file';
import type { Retrieved } from './reception';
import { safeName } from './safe-name';

/** What became of the files. */
export interface Fetched {
  /** By the places of the files; undefined for those that failed. */
  readonly saved: readonly (Saved | undefined)[];
  readonly trouble: CliError | undefined;
}

/** Downloads every file of a push into a folder, one after the other; never rejects for one that fails. */
export async function fetchFiles(reception: Retrieved, folder: Folder): Promise<Fetched> {
  const { context, options, say, push } = reception;
  const files = push.files ?? [];
  const meter = meterFor(context, options, { files: files.length, total: undefined });
  const saved: (Saved | undefined)[] = [];
  const failures: CliError[] = [];
  for (const [at, file] of files.entries()) {
    const name = safeName(file.filename, folder.named);
    const tools = toolsFor(reception, meter, at, name);
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
  if (context.signal.aborted) return { saved, trouble: new CliError('interrupted', 'interrupted') };
  if (summary !== undefined) await say.note(summary);
  return { saved, trouble: troubleOf(failures, files, folder) };
}

function savedNote({ path, bytes }: Saved, wanted: string): string {
  return savedText(path, bytes, basename(path) === wanted ? undefined : wanted);
}

/** Runs a download; its error as a value, even a bug's, so that what else was retrieved is not lost. */
export async function attempt<T>(work: () => Promise<T>): Promise<T | CliError> {
  try {
    return await work();
  } catch (error) {
    return asCliError(error);
  }
}

/** What a download of the file at this place of the push needs; it is reported under that name. */
export function toolsFor(reception: Retrieved, meter: Meter, at: number, name: string): Tools {
  const { api, context, say } = reception;
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

function troubleOf(
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
