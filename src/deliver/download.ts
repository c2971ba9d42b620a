import { rmSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { isArmored } from '../age/sealed-with';
import { type Meter, meterFor } from '../cli/terminal/transfer-meter';
import { count, reportSaved } from '../cli/terminal/wording';
import type { Push } from '../contract/decode';
import type { DownloadFile } from '../keep/interrupted-download';
import { describe, type Kept } from '../keep/kept';
import { isRetrievableAgain, whyGone } from '../keep/rescue-store';
import { attempt, CliError, endedBy, phrase } from '../platform/errors';
import type { Retrieval } from '../take/retrieval';
import { partialFiles } from './partial-files';
import { type Folder, nameIn, renamed } from './safe-name';
import { type DownloadTools, type SavedFile, saveFile } from './save-file';

export interface FetchedFiles {
  /** In the order of the files of the push; undefined for a file that failed. */
  readonly saved: readonly (SavedFile | undefined)[];
  readonly failure: CliError | undefined;
}

/** Does not reject if a file fails. */
export async function fetchFiles(retrieval: Retrieval, folder: Folder): Promise<FetchedFiles> {
  const { say, signal, push } = retrieval;
  const files = push.files ?? [];
  const { meter, end } = transferOf(retrieval, files.length);
  const saved: (SavedFile | undefined)[] = [];
  const missing = () => files.flatMap(({ url }, index) => (saved[index] === undefined ? url : []));
  const rest = restOf(retrieval, missing, folder);
  const failures: CliError[] = [];
  for (const [index, file] of files.entries()) {
    const name = nameIn(folder, file.filename);
    const tools = { ...toolsFor(retrieval, meter, index, name), partial: rest?.partial };
    await rest?.keep();
    const outcome = await attempt(() => saveFile(file, folder, tools));
    if (!(outcome instanceof CliError)) saved[index] = outcome;
    if (signal.aborted) break;
    await meter.clear();
    if (outcome instanceof CliError) {
      failures.push(outcome);
      if (files.length > 1) await say.warn(outcome.with({ subject: name }));
    } else {
      const wanted = basename(outcome.path) === name ? undefined : name;
      await reportSaved(retrieval, { ...outcome, wanted }, renamed(folder, file.filename));
    }
  }
  await end();
  const failure = signal.aborted
    ? endedBy(signal).and(phrase('not-saved', count(missing().length, 'file')))
    : downloadFailure(failures, push, folder);
  if (failure) return { saved, failure: await leaveRest(retrieval, failure, missing(), rest) };
  rest?.remove();
  return { saved, failure };
}

export type Rest = NonNullable<ReturnType<typeof restOf>>;

/**
 * Keeps on the disk what another run needs to get the missing files, before a byte of one is asked for, as a run that is
 * killed can save nothing. Returns undefined if the files can be retrieved again.
 * @param folder has the saved files; undefined if the file goes to standard output
 */
export function restOf(retrieval: Retrieval, missing: () => readonly string[], folder?: Folder) {
  const { answer, context, link, push, sealed, store } = retrieval;
  if (!store.resumes || isRetrievableAgain(push)) return undefined;
  let file: DownloadFile | CliError | undefined = retrieval.kept;
  const state = () => ({
    link,
    // A plain text was printed or saved before; armor is needed to open the files.
    push: isArmored(sealed.payload ?? '') ? sealed : { ...sealed, payload: '' },
    saved: (sealed.files ?? []).map(({ url }) => url).filter((url) => !missing().includes(url)),
    answer: answer !== undefined,
    folder: folder && { ...folder, path: resolve(folder.path), taken: [...folder.taken] },
    partial: partial.list(),
  });
  /** What was kept before remains if a disk is full. */
  const keep = async () => {
    if (file && !(file instanceof CliError)) {
      const { update } = file;
      await attempt(async () => update(state()));
      return file;
    }
    const { keepDownload } = await import('../keep/interrupted-download');
    file = await attempt(() => keepDownload(context, state()));
    return file;
  };
  const partial = partialFiles(context, retrieval.partial, keep);
  const remove = () => (file instanceof CliError ? undefined : file?.remove());
  return { partial, keep, remove };
}

/**
 * Leaves what another run needs to get the rest of the files, if they cannot be retrieved again, and adds the command
 * for it to the failure.
 */
export async function leaveRest(
  retrieval: Retrieval,
  failure: CliError,
  missing: readonly string[],
  rest: Rest | undefined,
): Promise<CliError> {
  const { answer, ephemeral, push, sealed, signal } = retrieval;
  if (ephemeral) return describe(failure, ...(await rescueAnswer(retrieval, ephemeral, missing)));
  if (missing.length === 0) rest?.remove();
  if (!rest || missing.length === 0) return failure;
  const kept = await rest.keep();
  const gone = whyGone(push, answer !== undefined);
  const facts = signal.aborted ? [] : failure.facts;
  if (kept instanceof CliError) {
    // The parts are of no use.
    for (const { path } of rest.partial.list()) rmSync(path, { force: true });
    return failure.with({
      facts: [...facts, phrase('detailed', gone, ...kept.facts)],
      remains: {},
    });
  }
  const path = kept.release();
  const isSealed = isArmored(sealed.payload ?? '');
  const files = phrase('gone-and-not-saved', gone, count(missing.length, 'file'));
  return failure.with({
    facts: signal.aborted ? files : facts,
    hints: [...failure.hints, phrase('resume-soon', path, isSealed && !answer ? 'key' : '')],
    remains: { saved_to: path },
  });
}

/**
 * Shows a transfer of files. At a terminal, the first Ctrl-C during a transfer that cannot be repeated only warns; the
 * next one ends the run.
 */
export function transferOf(retrieval: Retrieval, files: number) {
  const { answer, context, push, say, store } = retrieval;
  const meter = meterFor(retrieval, files);
  const ask = async () => {
    await meter.clear(true);
    await say.warn(`${whyGone(push, answer !== undefined)}; press Ctrl-C again to stop`);
  };
  const asksFirst = context.stderr.isTTY && store.loses(push);
  const stopAsking = asksFirst ? context.interrupts.enter({ mode: 'confirm', ask }) : () => {};
  const end = async () => {
    stopAsking();
    await meter.ends();
  };
  return { meter, end };
}

export function toolsFor(
  { context, openFile, say, signal }: Retrieval,
  meter: Meter,
  index: number,
  name: string,
): DownloadTools {
  return {
    openFile,
    signal,
    sleep: context.sleep,
    progress: { begins: (length) => meter.begins(index, name, length), moved: meter.moved },
    retrying: async (failure, seconds) => {
      await meter.clear();
      await say.note(failure.with({ subject: `retrying "${name}" in ${seconds} s` }));
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
  const code = failures.every(({ code }) => code === 'unreachable') ? 'unreachable' : 'failed';
  const what =
    files.length === 1
      ? phrase(
          'detailed',
          `cannot save "${nameIn(folder, files[0]?.filename ?? '')}"`,
          ...first.facts,
        )
      : `${failures.length} of ${files.length} files were not saved`;
  const hints = [
    ...(files.length === 1 ? first.hints : []),
    ...(isRetrievableAgain(push) ? [HINT] : []),
  ];
  return new CliError(code, what, { hints, cause: first });
}

/**
 * Saves text and files of pushes that cannot be delivered, unless they can be retrieved again.
 * @param links how many links the user named; with several, messages name each as `link 2`
 */
export async function rescuePushes(
  retrievals: readonly Retrieval[],
  links = retrievals.length,
): Promise<(readonly Kept[])[]> {
  const kept: (readonly Kept[])[] = [];
  for (const [index, retrieval] of retrievals.entries()) {
    const { push, sealed, store } = retrieval;
    const bytes = push.payload ?? '';
    const part = store.resumes && isArmored(bytes) ? 'encrypted text' : 'secret';
    const subject = links > 1 ? `link ${index + 1}` : undefined;
    const isLost = store.loses(push);
    const text =
      isLost && bytes === '' ? [] : await store.keep({ part, bytes, push, sealed, subject });
    const files = isLost && push.files?.length ? await rescueFiles(retrieval) : [];
    kept.push([...text, ...files]);
  }
  return kept;
}

async function rescueFiles(retrieval: Retrieval): Promise<Kept[]> {
  const path = await attempt(() => retrieval.store.folder());
  if (path instanceof CliError) return [{ part: 'files', outcome: 'lost', why: path }];
  const folder = { path, force: false, taken: new Set<string>() };
  const { saved, failure } = await fetchFiles(
    { ...retrieval, ephemeral: undefined, kept: undefined },
    folder,
  );
  const kept: Kept[] = saved.flatMap((file) =>
    file ? [{ part: 'files', outcome: 'saved', path: file.path }] : [],
  );
  return failure ? [...kept, { part: 'files', outcome: 'lost', why: failure }] : kept;
}

/**
 * Saves files that no later run can fetch: decrypted, or encrypted and with the key if decryption fails.
 * @param missing addresses of the files
 */
async function rescueAnswer(
  retrieval: Retrieval,
  { sealed, key }: NonNullable<Retrieval['ephemeral']>,
  missing: readonly string[],
): Promise<(readonly Kept[])[]> {
  // The signal that ended the delivery must not end the rescue.
  const opened = { ...retrieval, signal: sealed.signal };
  const damaged: string[] = [];
  for (const url of missing) {
    const read = await attempt(async () => {
      for await (const _ of (await opened.openFile(url)).body);
    });
    if (read instanceof CliError) damaged.push(url);
  }
  const whole = missing.filter((url) => !damaged.includes(url));
  const kept = await rescuePushes([withOnly(opened, whole), withOnly(sealed, damaged)]);
  if (damaged.length > 0) kept.push(await opened.store.keep({ part: 'key', bytes: key }));
  return kept;
}

function withOnly(retrieval: Retrieval, urls: readonly string[]): Retrieval {
  const files = retrieval.push.files?.filter(({ url }) => urls.includes(url)) ?? [];
  return { ...retrieval, push: { ...retrieval.push, payload: '', files } };
}
