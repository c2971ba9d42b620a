import { basename, dirname } from 'node:path';
import { inWords } from '../cli/in-words';
import { boundedByInterrupt, breakLine } from '../cli/terminal/bounded-write';
import type { PushFile } from '../contract/decode';
import type { Context } from '../platform/context';
import { asCliError, attempt, CliError, endedBy, failedError, phrase } from '../platform/errors';
import { whyUnwritable } from '../platform/files/file-error';
import { makeFolder } from '../platform/private-folder';
import type { Retrieval } from '../take/retrieval';
import { reserveText } from './destination';
import { type FetchedFiles, fetchFiles, leaveRest, restOf, toolsFor, transferOf } from './download';
import { newFile } from './new-file';
import type { Place } from './place';
import { type Folder, safeName } from './safe-name';
import { copyBody, type DownloadTools, withRetries } from './save-file';
import type { Ways } from './ways';

export async function filesTo(retrieval: Retrieval, place: Place, ways: Ways) {
  const folder = await folderFor(retrieval, place, ways);
  const write = ways.files === 'stdout' ? fileToStdout : fetchFiles;
  return {
    path: folder.path,
    /** Resolves to undefined if the text cannot be written to the folder of the files. */
    reserveText: () => reserveText(folder).catch(() => undefined),
    write: () => write(retrieval, folder),
  };
}

function folderOf({ plan, text }: Place, files: Ways['files']): Folder {
  const { force } = plan;
  const taken = text?.inFolder?.taken ?? new Set<string>();
  if (plan.to === 'rest') return plan.folder;
  if (plan.to !== 'path' || files === 'current') return { path: '.', force, taken, named: false };
  const { path } = plan;
  if (files === 'folder') return { path, force, taken, named: true };
  return { path: dirname(path), name: basename(path), force, taken, named: true };
}

/** Makes a missing folder. Returns a rescue folder if it cannot be written to and the files would be lost. */
async function folderFor(retrieval: Retrieval, place: Place, ways: Ways): Promise<Folder> {
  const { say, store, push } = retrieval;
  if (ways.but === 'no-folder' && place.plan.to === 'path')
    await say.warn(`"${place.plan.path}" is not a folder: saving the files to the current folder`);
  const folder = folderOf(place, ways.files);
  try {
    if (folder.path !== '.') makeFolder(folder.path);
    // Only writing proves that the folder can be written: access(2) grants a folder that was removed.
    await (await newFile({ path: folder.path, force: false, taken: new Set() }, 'probe')).discard();
    return folder;
  } catch (error) {
    const why = whyUnwritable((error as Error).cause ?? error);
    const instead = store.loses(push) ? await store.folder().catch(() => undefined) : undefined;
    // The error of each file says why the folder cannot be written.
    if (instead === undefined) return folder;
    const which = folder.path === '.' ? 'the current folder' : `"${folder.path}"`;
    await say.warn(`cannot write to ${which} (${why}): saving the files to ${instead}`);
    return { ...folder, path: instead };
  }
}

/** Writes the only file of a push to standard output, or to the folder if that fails. The text goes to the folder. */
async function fileToStdout(retrieval: Retrieval, folder: Folder): Promise<FetchedFiles> {
  const { context, push, say, signal } = retrieval;
  const [file] = push.files ?? [];
  if (file === undefined) return fetchFiles(retrieval, folder);
  if (push.payload) await say.warn(await textBeside(retrieval, push.payload, folder));
  const { meter, end } = transferOf(retrieval, 1);
  const tools = toolsFor(retrieval, meter, 0, safeName(file.filename));
  const rest = restOf(retrieval, () => [file.url]);
  const kept = await rest?.keep();
  const problem = await attempt(() => writeToStdout(context, file, tools));
  await end();
  if (signal.aborted) {
    const missing = problem ? [file.url] : [];
    return { saved: [], failure: await leaveRest(retrieval, endedBy(signal), missing, rest) };
  }
  if (problem === undefined) rest?.remove();
  if (problem === undefined) return { saved: [], failure: undefined };
  const again = kept instanceof CliError ? retrieval : { ...retrieval, kept };
  const { saved, failure } = await fetchFiles(again, folder);
  const where = failure ? [] : [phrase('whole-file-saved', saved[0]?.path ?? '')];
  const { hints, remains } = failure ?? {};
  const facts = [...problem.facts, ...where];
  return { saved, failure: failedError(facts, { hints, remains, cause: problem }) };
}

async function textBeside(retrieval: Retrieval, bytes: string, folder: Folder): Promise<string> {
  const { push, store } = retrieval;
  const why = phrase('output-is-for-file');
  try {
    const path = await (await reserveText(folder)).commit(bytes);
    return inWords(phrase('text-saved-beside', why, path ?? ''));
  } catch {
    return inWords(await store.rescue(failedError(why), { part: 'text', bytes, push }));
  }
}

/** Starts again only if nothing was written yet, as output cannot be taken back. */
async function writeToStdout(
  { stdout, stderr, signal }: Pick<Context, 'stdout' | 'stderr' | 'signal'>,
  file: PushFile,
  tools: DownloadTools,
): Promise<undefined> {
  let written = 0;
  let last: number | undefined = 0x0a;
  const write = async (chunk: Uint8Array) => {
    await boundedByInterrupt(stdout.write(chunk), signal).catch((cause) => {
      throw failedError(phrase('stdout-unwritable', whyUnwritable(cause)), { cause });
    });
    written += chunk.byteLength;
    last = chunk.at(-1) ?? last;
  };
  await withRetries(tools, async (resume) => {
    const response = await tools.openFile(file.url, resume);
    tools.progress.begins(response.length);
    await copyBody(response, tools, write).catch((cause) => {
      if (written === 0) throw cause;
      throw failedError(phrase('output-in-part', ...asCliError(cause).facts), { cause });
    });
  }).finally(() => last === 0x0a || breakLine(stderr));
  return undefined;
}
