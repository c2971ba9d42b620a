import { basename, dirname, resolve } from 'node:path';
import { whyHidden } from '../cli/agent';
import { boundedByInterrupt } from '../cli/terminal/bounded-write';
import { toJson } from '../cli/terminal/output';
import { forTerminal } from '../cli/terminal/safe';
import { savedText } from '../cli/terminal/wording';
import type { Push } from '../contract/decode';
import { CliError, failedError, phrase, savedTo } from '../platform/errors';
import { whyUnwritable } from '../platform/files/file-error';
import { makeFolder } from '../platform/private-folder';
import type { Retrieval } from '../take/retrieval';
import type { Fact } from '../words/phrase';
import { drawing } from './deliver-link';
import type { Destination } from './destination';
import type { Place } from './place';
import { printOrRescue } from './print-or-rescue';
import type { Folder } from './safe-name';
import { contentsOf, type Ways, waysOf } from './ways';

/** 4 ms, which a text alone does without. */
const downloads = () => import('./download');

/**
 * Writes text and files of a push to where they go, or saves what cannot be. The text goes first, so that a failing file
 * cannot lose it; an object goes last, since it says where the files are.
 * @param withFiles whether its files are wanted
 * @returns what went wrong, if anything did
 */
export async function deliver(
  retrieval: Retrieval,
  place: Place,
  withFiles: boolean,
): Promise<CliError | undefined> {
  const { push, say } = retrieval;
  const { json } = say.manner;
  const contents = contentsOf(push, withFiles, json);
  const ways = waysOf(place.kind, contents, json);
  if (contents === 'none') await place.discard();
  else if (ways.text !== 'reserved' || !(json || contents === 'text' || push.payload))
    await place.text?.discard();
  if (ways.files === 'nowhere')
    return ways.text === 'nowhere' ? remark(ways) : deliverText(retrieval, place, ways, push);
  if (ways.but === 'no-folder')
    await say.warn(`"${pathOf(place)}" is not a folder: saving the files to the current folder`);
  const folder = await folderFor(retrieval, place, ways);
  if (ways.files === 'stdout')
    return (await import('./file-to-stdout')).fileToStdout(retrieval, folder);
  if (json) return deliverObject(retrieval, place, ways, folder);
  const text = push.payload ? await deliverText(retrieval, place, ways, push, folder) : undefined;
  const { failure } = await (await downloads()).fetchFiles(retrieval, folder);
  return both(text, failure) ?? remark(ways, push.files?.length, folder);
}

/** Saves the files, and writes an object that says where they are. */
async function deliverObject(retrieval: Retrieval, place: Place, ways: Ways, folder: Folder) {
  const { push } = retrieval;
  const { saved, failure } = await (await downloads()).fetchFiles(retrieval, folder);
  const files = (push.files ?? []).map((file, index) => {
    const path = saved[index]?.path;
    return path === undefined ? file : { ...file, saved_as: resolve(path) };
  });
  return both(await deliverText(retrieval, place, ways, { ...push, files }), failure);
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

/** The error of a place that was not used as somebody may expect, though everything is saved. */
function remark({ but }: Ways, files = 0, folder?: Folder): CliError | undefined {
  const where = folder === undefined || folder.path === '.' ? 'the current folder' : folder.path;
  switch (but) {
    case 'not-set':
      return failedError(phrase('nothing-set-in-job'));
    case 'one-file-only':
      return failedError(phrase('output-takes-one-file', files, where));
    case 'is-terminal':
      return failedError(phrase('output-is-terminal', where));
    default:
      return undefined;
  }
}

const pathOf = ({ plan }: Place) => (plan.to === 'path' ? plan.path : '.');

/** The folder for the files, made if missing; a rescue folder if it cannot be written and the files would be lost. */
async function folderFor(retrieval: Retrieval, place: Place, { files }: Ways): Promise<Folder> {
  const { plan, text } = place;
  const { say, store, push } = retrieval;
  const { force } = plan;
  const wanted: Folder =
    plan.to === 'rest'
      ? plan.folder
      : { path: '.', force, taken: text?.inFolder?.taken ?? new Set(), named: false };
  const path = pathOf(place);
  const named = { ...wanted, named: true };
  const folder =
    files === 'path'
      ? { ...named, path: dirname(path), name: basename(path) }
      : files === 'folder' && plan.to === 'path'
        ? { ...named, path }
        : wanted;
  try {
    if (folder.path !== '.') makeFolder(folder.path);
    // Only writing proves it: access(2) grants a folder that was removed.
    const { newFile } = await import('./new-file');
    await (await newFile({ path: folder.path, force: false, taken: new Set() }, 'probe')).discard();
    return folder;
  } catch (error) {
    const why = whyUnwritable((error as Error).cause ?? error);
    const instead = store.loses(push) ? await store.folder().catch(() => undefined) : undefined;
    // Without one, the error of each file says why.
    if (instead === undefined) return folder;
    const which = folder.path === '.' ? 'the current folder' : `"${folder.path}"`;
    await say.warn(`cannot write to ${which} (${why}): saving the files to ${instead}`);
    return { ...folder, path: instead };
  }
}

/** Writes the text of a push, or with `--json` the object, to where it goes, or saves it. */
async function deliverText(
  retrieval: Retrieval,
  place: Place,
  { text }: Ways,
  push: Push,
  folder?: Folder,
): Promise<CliError | undefined> {
  const { say } = retrieval;
  const to =
    text === 'reserved'
      ? place.text
      : text === 'beside' && folder
        ? await beside(folder)
        : undefined;
  if (!to) return printText(retrieval, place, push);
  const bytes = say.manner.json ? objectText(retrieval, push) : (push.payload ?? '');
  return writeTo(retrieval, place, to, bytes);
}

async function beside(folder: Folder): Promise<Destination | undefined> {
  const { reserveText } = await import('./destination');
  return reserveText(folder).catch(() => undefined);
}

/** The object of the instance: an answer is the `response` of its request. */
function objectText({ answer }: Retrieval, push: Push): string {
  const { payload, ...request } = push;
  return `${toJson(answer ? { ...request, response: payload } : push)}\n`;
}

async function printText(
  retrieval: Retrieval,
  { plan }: Place,
  push: Push,
): Promise<CliError | undefined> {
  const { context, say, store } = retrieval;
  const text = push.payload ?? '';
  const why = text === '' ? undefined : await whyHidden(context);
  if (why !== undefined)
    // It was for a folder that is gone, or the like.
    return store.rescue(failedError(phrase('text-not-printed', why)), {
      part: 'secret',
      bytes: text,
      push,
    });
  const result = { part: 'secret', push, store } as const;
  if (say.manner.json)
    return printOrRescue(context, { ...result, bytes: objectText(retrieval, push) });
  const drawn = plan.to === 'qr' ? await drawnAsQr(retrieval, text) : undefined;
  // Exact bytes in a pipe; on a terminal control characters are made visible, and the line is ended.
  const bytes = drawn ?? (context.stdout.isTTY ? forTerminal(text) : text);
  return printOrRescue(context, { ...result, bytes, saved: drawn && text });
}

/** The text as a QR code for stdout; undefined, with a warning, if it is too long or the terminal too small. */
async function drawnAsQr({ say }: Retrieval, text: string): Promise<string | undefined> {
  const { qrCode } = await drawing();
  const code = qrCode(text, await say.look());
  if ('drawing' in code) return code.drawing;
  await say.warn(code.problem);
  return undefined;
}

async function writeTo(
  { context, say, store, push }: Retrieval,
  { plan }: Place,
  destination: Destination,
  bytes: string,
): Promise<CliError | undefined> {
  try {
    const path = await boundedByInterrupt(destination.commit(bytes), context.signal);
    if (path === undefined) return undefined;
    const name = destination.inFolder?.name ?? basename(path);
    const wanted = basename(path) === name ? undefined : name;
    await say.note(savedText(path, Buffer.byteLength(bytes), wanted));
    return undefined;
  } catch (error) {
    const where = plan.to === 'path' ? `"${plan.path}"` : 'a file of the job';
    const facts: readonly Fact[] =
      error instanceof CliError
        ? error.facts
        : [phrase('place-unwritable', where, whyUnwritable(error))];
    return store.rescue(failedError(facts), { part: 'secret', bytes, push });
  }
}
