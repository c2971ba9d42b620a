import { lstat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { boundedByInterrupt, breakLine } from '../cli/terminal/bounded-write';
import { meterFor } from '../cli/terminal/transfer-meter';
import type { PushFile } from '../contract/decode';
import { isRetrievableAgain } from '../keep/safekeeping';
import type { Context } from '../platform/context';
import { attempt, type CliError, endedBy, failedError, savedTo } from '../platform/errors';
import { codeOf, whyUnwritable } from '../platform/files/file-error';
import { makeFolder } from '../platform/private-folder';
import { type Destination, reserveText, TEXT_FILE } from './destination';
import { askBeforeLoss, fetchFiles, lostRest, toolsFor } from './download';
import { type NewFile, newFile } from './new-file';
import { type Delivery, deliverText } from './output-place';
import { type Folder, nameKey, safeName } from './safe-name';
import { copyBody, type DownloadTools, withRetries } from './save-file';

/**
 * Writes text and files of a push to where they belong. The text goes first, so that a failing file cannot lose it; with
 * --json the object goes last, since it says where the files are.
 * @returns what went wrong, if anything did; everything that could be saved was saved then
 */
export async function savePush(delivery: Delivery): Promise<CliError | undefined> {
  const { options } = delivery;
  const { push } = delivery.taken;
  const { folder, file } = await chooseFolder(delivery);
  const files = push.files ?? [];
  if (options.json) {
    const fetched = await fetchFiles(delivery, folder);
    const located = files.map((one, at) => {
      const saved = fetched.saved[at];
      return saved ? { ...one, saved_as: resolve(saved.path) } : one;
    });
    return both(await deliverText(delivery, { ...push, files: located }, file), fetched.failure);
  }
  if (options.output === '-') return fileToStdout(delivery, folder);
  const failure = await textIfAny(delivery, file);
  const fetched = await fetchFiles(delivery, folder);
  return both(failure, fetched.failure);
}

/** The failure of the text, extended by that of the files. */
function both(text: CliError | undefined, files: CliError | undefined): CliError | undefined {
  if (!text || !files) return text ?? files;
  const interrupted = files.exitStatus > 128;
  if (interrupted && !files.remains) return text;
  const paths = [text, files].flatMap(({ remains }) => remains?.saved_to ?? []);
  return text.with({
    facts: [...text.facts, ...files.facts],
    // Of several commands the first is printed.
    steps: [...files.steps, ...text.steps],
    remains: { ...text.remains, ...savedTo(paths) },
  });
}

async function textIfAny(
  delivery: Delivery,
  file: Destination | undefined,
): Promise<CliError | undefined> {
  const { push } = delivery.taken;
  if ((push.payload ?? '') !== '') return deliverText(delivery, push, file);
  await file?.discard();
  return undefined;
}

/**
 * The folder of the files, and where the text goes, unless to stdout. A path that was reserved for a text becomes the
 * folder, or the one file if there is no text, unless something is there already that is not to be replaced.
 */
async function chooseFolder(delivery: Delivery): Promise<{ folder: Folder; file?: Destination }> {
  const { context, options, place, say } = delivery;
  const { push } = delivery.taken;
  const { output = '-', force } = options;
  const at = async (path: string, named: boolean): Promise<Folder> => ({
    path: await writableFolder(path, delivery),
    force,
    taken: new Set(),
    named,
  });
  if (place.resumed) {
    const path = await writableFolder(place.resumed.path, delivery);
    return { folder: { ...place.resumed, path } };
  }
  if (place.folder !== undefined) {
    const folder = await at(place.folder, true);
    if (!place.file) return { folder };
    folder.taken.add(nameKey(TEXT_FILE));
    return { folder, file: place.file };
  }
  if (place.file === undefined) return { folder: await at('.', false) };
  const found = await lstat(output).catch(() => undefined);
  const isOne = push.files?.length === 1 && !push.payload;
  if (found === undefined || (isOne && force && found.isFile())) {
    await place.file.discard();
    if (isOne) return { folder: { ...(await at(dirname(output), true)), name: basename(output) } };
    const folder = await at(output, true);
    if (options.json || !push.payload) return { folder };
    folder.taken.add(nameKey(TEXT_FILE));
    const file = await reserveText(folder.path, force, context.uid).catch(() => undefined);
    return file ? { folder, file } : { folder };
  }
  await say.warn(`"${output}" is not a folder: saving the files to the current folder`);
  return { folder: await at('.', false), file: place.file };
}

/** The folder, made if missing; a rescue folder if it cannot be written and the files would be lost. */
async function writableFolder(path: string, { safe, say, taken }: Delivery): Promise<string> {
  try {
    if (path !== '.') makeFolder(path);
    // Only writing proves it: access(2) grants a folder that was removed.
    await (await newFile({ path, force: false, taken: new Set() }, 'probe')).discard();
    return path;
  } catch (error) {
    const code = codeOf((error as Error).cause ?? error);
    const lost = !isRetrievableAgain(taken.push);
    const instead = lost ? await safe.folder().catch(() => undefined) : undefined;
    // Without one, the error of each file says why.
    if (instead === undefined) return path;
    const which = path === '.' ? 'the current folder' : `"${path}"`;
    await say.warn(`cannot write to ${which} (${code}): saving the files to ${instead}`);
    return instead;
  }
}

/** `--output -`: a single file goes to stdout; everything else is saved. */
async function fileToStdout(delivery: Delivery, folder: Folder): Promise<CliError | undefined> {
  const { context, options, safe, say, signal } = delivery;
  const { push } = delivery.taken;
  const files = push.files ?? [];
  const [file] = files;
  if (!file || files.length > 1 || context.stdout.isTTY) {
    const failure = await textIfAny(delivery, undefined);
    const fetched = await fetchFiles(delivery, folder);
    return both(failure, fetched.failure) ?? notToStdout(files.length, folder);
  }
  if (push.payload) await say.warn(await saveTextBeside(delivery, push.payload, folder));
  const meter = meterFor(context, options, 1);
  const tools = toolsFor(delivery, meter, 0, safeName(file.filename));
  const asked = askBeforeLoss(delivery, meter);
  const problem = await attempt(() => downloadToStdout(context, file, tools));
  asked();
  await meter.ends();
  if (signal.aborted) {
    const missing = problem === undefined ? [] : [file.url];
    await safe.keep(lostRest(delivery, missing));
    return safe.explain(endedBy(signal));
  }
  if (problem === undefined) return undefined;
  const fetched = await fetchFiles(delivery, folder);
  const where = fetched.failure ? '' : `; the whole file was saved to ${fetched.saved[0]?.path}`;
  return failedError(`${problem.message}${where}`, {
    steps: fetched.failure?.steps,
    remains: fetched.failure?.remains,
    cause: problem,
  });
}

function notToStdout(files: number, folder: Folder): CliError {
  const where = folder.path === '.' ? 'the current folder' : folder.path;
  return files === 1
    ? failedError(`standard output is a terminal; the file was saved to ${where}`)
    : failedError(`--output - works with one file only; the ${files} files were saved to ${where}`);
}

async function saveTextBeside(
  { safe, taken: { push } }: Delivery,
  bytes: string,
  folder: Folder,
): Promise<string> {
  const why = 'standard output is for the file';
  let file: NewFile | undefined;
  try {
    file = await newFile(folder, TEXT_FILE);
    await file.handle.writeFile(bytes);
    return `${why}: the text was saved to ${await file.keep()}`;
  } catch {
    await file?.discard();
    await safe.keep({ what: 'text', bytes, push });
    return safe.explain(failedError(why)).message;
  }
}

/**
 * Writes a file to stdout. What was written cannot be taken back, so only a link that has sent nothing yet is tried
 * again.
 * @throws CliError
 */
async function downloadToStdout(
  { stdout, stderr, signal }: Pick<Context, 'stdout' | 'stderr' | 'signal'>,
  file: PushFile,
  tools: DownloadTools,
): Promise<undefined> {
  let written = 0;
  let last: number | undefined = 0x0a;
  const write = async (chunk: Uint8Array) => {
    await boundedByInterrupt(stdout.write(chunk), signal).catch((cause) => {
      const why = whyUnwritable(codeOf(cause));
      throw failedError(`cannot write to standard output (${why})`, { cause });
    });
    written += chunk.byteLength;
    last = chunk.at(-1) ?? last;
  };
  if (stdout.closed) throw failedError('standard output is closed');
  await withRetries(tools, async (resume) => {
    const response = await tools.file(file.url, resume);
    tools.progress.begins(response.length);
    await copyBody(response, tools, write).catch((error: Error) => {
      if (written === 0) throw error;
      throw failedError(`only part of the file was written to standard output: ${error.message}`, {
        cause: error,
      });
    });
  }).finally(() => last === 0x0a || breakLine(stderr));
  return undefined;
}
