import { basename, resolve } from 'node:path';
import { isArmored } from '../age/sealed-with';
import { inWords } from '../cli/in-words';
import { type Meter, meterFor } from '../cli/terminal/transfer-meter';
import { count, savedText } from '../cli/terminal/wording';
import type { Push } from '../contract/decode';
import { isRetrievableAgain, type LostRest, whyGone } from '../keep/safekeeping';
import { attempt, CliError, endedBy, phrase } from '../platform/errors';
import type { Taking } from '../take/taking';
import { type PartialFiles, partialFiles } from './partial-files';
import { type Folder, nameIn } from './safe-name';
import { type DownloadTools, type SavedFile, saveFile } from './save-file';

/**
 * Downloads every file of a push into a folder, one after the other; does not reject if one fails.
 * @returns the files that were saved, in their order, undefined for those that failed; and the failure, if there was one
 */
export async function fetchFiles(taking: Taking, folder: Folder) {
  const { context, safe, say, signal, taken } = taking;
  const { push } = taken;
  const files = push.files ?? [];
  const meter = meterFor(taking, files.length);
  const asked = askBeforeLoss(taking, meter);
  const resumes = safe.resumes && !isRetrievableAgain(push);
  const partial = resumes ? partialFiles(context, taken.partial) : undefined;
  const saved: (SavedFile | undefined)[] = [];
  const failures: CliError[] = [];
  for (const [at, file] of files.entries()) {
    const name = nameIn(folder, file.filename);
    const tools = { ...toolsFor(taking, meter, at, name), partial };
    const outcome = await attempt(() => saveFile(file, folder, tools));
    if (!(outcome instanceof CliError)) saved[at] = outcome;
    if (signal.aborted) break;
    await meter.clear();
    if (outcome instanceof CliError) {
      failures.push(outcome);
      if (files.length > 1) await say.warn(`${name}: ${await inWords(outcome)}`);
    } else {
      const taken = basename(outcome.path) === name ? undefined : name;
      await say.note(savedText(outcome.path, outcome.bytes, taken));
    }
  }
  asked();
  await meter.ends();
  const missing = files.filter((_, at) => saved[at] === undefined).map(({ url }) => url);
  const failure = signal.aborted
    ? endedBy(signal).and(`${count(missing.length, 'file')} not saved`)
    : downloadFailure(failures, push, folder);
  if (!failure) return { saved, failure };
  await safe.keep(lostRest(taking, missing, folder, partial));
  return { saved, failure: safe.explain(failure) };
}

/**
 * What another run needs to get the rest.
 * @param missing addresses of files
 * @param folder where the others are; left out for a file that went to standard output
 */
export function lostRest(
  { signal, taken }: Taking,
  missing: readonly string[],
  folder?: Folder,
  partial?: PartialFiles,
): LostRest {
  const { answer, link, push, sealed } = taken;
  const isAnswer = answer !== undefined;
  return {
    what: 'rest',
    push,
    gone: whyGone(push, isAnswer),
    missing: missing.length,
    interrupted: signal.aborted,
    download: {
      link,
      // The text was printed or saved before, and armor is needed to open the files.
      push: isArmored(sealed.payload ?? '') ? sealed : { ...sealed, payload: '' },
      saved: (sealed.files ?? []).map(({ url }) => url).filter((url) => !missing.includes(url)),
      answer: isAnswer,
      folder: folder && { ...folder, path: resolve(folder.path), taken: [...folder.taken] },
      partial: partial?.list() ?? [],
    },
  };
}

/**
 * At a terminal, the first Ctrl-C in the download of what cannot be retrieved again only says so; the next one ends the run.
 * Returns what ends this.
 */
export function askBeforeLoss({ context, say, taken }: Taking, meter: Meter): () => void {
  if (!context.stderr.isTTY || isRetrievableAgain(taken.push)) return () => {};
  const ask = async () => {
    await meter.clear(true);
    await say.warn(
      `${whyGone(taken.push, taken.answer !== undefined)}; press Ctrl-C again to stop`,
    );
  };
  return context.interrupts.enter({ mode: 'confirm', ask });
}

/**
 * @param at the index of the file in the push
 * @param name what progress and notes call it
 */
export function toolsFor(
  { context, file, say, signal }: Taking,
  meter: Meter,
  at: number,
  name: string,
): DownloadTools {
  return {
    file,
    signal,
    sleep: context.sleep,
    progress: { begins: (length) => meter.begins(at, name, length), moved: meter.moved },
    again: async (failure, seconds) => {
      await meter.clear();
      await say.note(`retrying "${name}" in ${seconds} s: ${await inWords(failure)}`);
    },
  };
}

const HINT =
  'links to files usually expire within minutes; pwpush get returns new ones, and uses another view';

function downloadFailure(
  failures: readonly CliError[],
  push: Push,
  folder: Folder,
): CliError | undefined {
  const files = push.files ?? [];
  const [first] = failures;
  if (!first) return undefined;
  const code = failures.every((one) => one.code === 'unreachable') ? 'unreachable' : 'failed';
  const what =
    files.length === 1
      ? phrase(
          'detailed',
          `cannot save "${nameIn(folder, files[0]?.filename ?? '')}"`,
          ...first.facts,
        )
      : `${failures.length} of ${files.length} files were not saved`;
  const steps = [
    ...(files.length === 1 ? first.steps : []),
    ...(isRetrievableAgain(push) ? [HINT] : []),
  ];
  return new CliError(code, what, { steps, cause: first });
}
