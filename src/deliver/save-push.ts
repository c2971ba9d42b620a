import { lstat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { inWords } from '../cli/in-words';
import { boundedByInterrupt, breakLine } from '../cli/terminal/bounded-write';
import { meterFor } from '../cli/terminal/transfer-meter';
import type { PushFile } from '../contract/decode';
import { isRetrievableAgain } from '../keep/safekeeping';
import type { Context } from '../platform/context';
import {
  asCliError,
  attempt,
  type CliError,
  endedBy,
  failedError,
  phrase,
  savedTo,
} from '../platform/errors';
import { whyUnwritable } from '../platform/files/file-error';
import { makeFolder } from '../platform/private-folder';
import { type Delivery, deliverText } from './deliver-text';
import { type Destination, reserveText, TEXT_FILE } from './destination';
import { askBeforeLoss, fetchFiles, lostRest, toolsFor } from './download';
import { type NewFile, newFile } from './new-file';
import { type Folder, safeName } from './safe-name';
import { copyBody, type DownloadTools, withRetries } from './save-file';

/**
 * Writes text and files of a push to where they belong. The text goes first, so that a failing file cannot lose it; with
 * --json the object goes last, since it says where the files are.
 * @returns what went wrong, if anything did; everything that could be saved was saved then
 */
export async function savePush(delivery: Delivery): Promise<CliError | undefined> {
  const { push } = delivery.taken;
  const { folder, text } = await waysFor(delivery);
  if (delivery.say.manner.json) {
    const fetched = await fetchFiles(delivery, folder);
    const files = (push.files ?? []).map((one, at) => {
      const saved = fetched.saved[at];
      return saved ? { ...one, saved_as: resolve(saved.path) } : one;
    });
    return both(await deliverText(delivery, { ...push, files }, text), fetched.failure);
  }
  if (delivery.place.plan.to === 'dash') return toStdout(delivery, folder);
  return saveAll(delivery, { folder, text });
}

async function saveAll(delivery: Delivery, { folder, text }: Ways): Promise<CliError | undefined> {
  const failure = await textIfAny(delivery, text);
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

/** Where the files of a push go, and its text; to standard output if that is undefined. */
interface Ways {
  readonly folder: Folder;
  readonly text: Destination | undefined;
}

async function waysFor(delivery: Delivery): Promise<Ways> {
  const { plan, folder, text } = delivery.place;
  if (plan.to === 'rest') {
    const path = await writableFolder(plan.folder.path, delivery);
    return { folder: { ...plan.folder, path }, text: undefined };
  }
  if (folder !== undefined) return inOne(await folderAt(folder, true, delivery), text);
  if (plan.to === 'path' && text) return atPath(delivery, plan.path, text);
  return { folder: await folderAt('.', false, delivery), text };
}

/**
 * A path that was reserved for a text becomes the folder, or the one file if there is no text, unless something is there already
 * that is not to be replaced.
 */
async function atPath(delivery: Delivery, path: string, text: Destination): Promise<Ways> {
  const { place, say, taken } = delivery;
  const { force } = place.plan;
  const { payload, files } = taken.push;
  const found = await lstat(path).catch(() => undefined);
  const isOne = files?.length === 1 && !payload;
  if (found && !(isOne && force && found.isFile())) {
    await say.warn(`"${path}" is not a folder: saving the files to the current folder`);
    return { folder: await folderAt('.', false, delivery), text };
  }
  await text.discard();
  if (isOne) {
    const folder = await folderAt(dirname(path), true, delivery);
    return { folder: { ...folder, name: basename(path) }, text: undefined };
  }
  const folder = await folderAt(path, true, delivery);
  if (say.manner.json || !payload) return { folder, text: undefined };
  return inOne(folder, await reserveText(folder.path, force).catch(() => undefined));
}

/** A folder for the files, and the text in it. */
function inOne(folder: Folder, text: Destination | undefined): Ways {
  return { folder: { ...folder, taken: text?.inFolder?.taken ?? folder.taken }, text };
}

/** @param named whether the user named it */
async function folderAt(path: string, named: boolean, delivery: Delivery): Promise<Folder> {
  const { force } = delivery.place.plan;
  return { path: await writableFolder(path, delivery), force, taken: new Set(), named };
}

/** The folder, made if missing; a rescue folder if it cannot be written and the files would be lost. */
async function writableFolder(path: string, { safe, say, taken }: Delivery): Promise<string> {
  try {
    if (path !== '.') makeFolder(path);
    // Only writing proves it: access(2) grants a folder that was removed.
    await (await newFile({ path, force: false, taken: new Set() }, 'probe')).discard();
    return path;
  } catch (error) {
    const why = whyUnwritable((error as Error).cause ?? error);
    const lost = !isRetrievableAgain(taken.push);
    const instead = lost ? await safe.folder().catch(() => undefined) : undefined;
    // Without one, the error of each file says why.
    if (instead === undefined) return path;
    const which = path === '.' ? 'the current folder' : `"${path}"`;
    await say.warn(`cannot write to ${which} (${why}): saving the files to ${instead}`);
    return instead;
  }
}

/** A single file goes to stdout; everything else is saved. */
async function toStdout(delivery: Delivery, folder: Folder): Promise<CliError | undefined> {
  const { context, say } = delivery;
  const { payload } = delivery.taken.push;
  const files = delivery.taken.push.files ?? [];
  const [file] = files;
  if (!file || files.length > 1 || context.stdout.isTTY)
    return (
      (await saveAll(delivery, { folder, text: undefined })) ?? notToStdout(files.length, folder)
    );
  if (payload) await say.warn(await saveTextBeside(delivery, payload, folder));
  const meter = meterFor(delivery, 1);
  const tools = toolsFor(delivery, meter, 0, safeName(file.filename));
  const asked = askBeforeLoss(delivery, meter);
  const problem = await attempt(() => downloadToStdout(context, file, tools));
  asked();
  await meter.ends();
  if (delivery.signal.aborted) return interrupted(delivery, problem ? [file.url] : []);
  return problem && savedInstead(delivery, folder, problem);
}

async function interrupted(delivery: Delivery, missing: readonly string[]): Promise<CliError> {
  const { safe, signal } = delivery;
  await safe.keep(lostRest(delivery, missing));
  return safe.explain(endedBy(signal));
}

/** What could not be written to stdout is saved. */
async function savedInstead(
  delivery: Delivery,
  folder: Folder,
  problem: CliError,
): Promise<CliError> {
  const { saved, failure } = await fetchFiles(delivery, folder);
  const where = failure ? [] : [`the whole file was saved to ${saved[0]?.path}`];
  return failedError([...problem.facts, ...where], {
    ...{ steps: failure?.steps, remains: failure?.remains, cause: problem },
  });
}

function notToStdout(files: number, folder: Folder): CliError {
  const where = folder.path === '.' ? 'the current folder' : folder.path;
  return files === 1
    ? failedError(`standard output is a terminal; the file was saved to ${where}`)
    : failedError(`standard output takes one file only; the ${files} files were saved to ${where}`);
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
    return inWords(safe.explain(failedError(why)));
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
      const why = whyUnwritable(cause);
      throw failedError(`cannot write to standard output (${why})`, { cause });
    });
    written += chunk.byteLength;
    last = chunk.at(-1) ?? last;
  };
  await withRetries(tools, async (resume) => {
    const response = await tools.file(file.url, resume);
    tools.progress.begins(response.length);
    await copyBody(response, tools, write).catch((cause) => {
      if (written === 0) throw cause;
      const partly = 'only part of the file was written to standard output';
      throw failedError(phrase('detailed', partly, ...asCliError(cause).facts), { cause });
    });
  }).finally(() => last === 0x0a || breakLine(stderr));
  return undefined;
}
