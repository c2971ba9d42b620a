import { lstat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { PushFile } from '../contract';
import type { CliError } from '../errors';
import { makeFolder } from '../system/private-folder';
import { type Destination, reserveText, TEXT_FILE } from './destination';
import type { Saved } from './download';
import { fetchFiles } from './fetch-files';
import { type Folder, newFile } from './new-file';
import { handText, type Reception } from './reception';
import { rescueFolder } from './rescue';
import { stillLeft } from './rescued';
import { nameKey } from './safe-name';
import { toStdout } from './to-stdout';

/**
 * Gets text and files of a push to where they belong. The text goes first, so that nothing that happens
 * to a file can lose it; with --json the object goes last, since it tells where the files are.
 * @returns what went wrong, if anything did; all that could be saved was saved then
 */
export async function receive(reception: Reception): Promise<CliError | undefined> {
  const { options, push } = reception;
  const { folder, file } = await settle(reception);
  const files = push.files ?? [];
  if (options.json) {
    const fetched = await fetchFiles(reception, folder);
    const told = { ...push, files: files.map((one, at) => withPlace(one, fetched.saved[at])) };
    return (await reception.handOver(told, file)) ?? fetched.trouble;
  }
  if (options.output === '-') return toStdout(reception, folder);
  const trouble = await handText(reception, file);
  const fetched = await fetchFiles(reception, folder);
  return trouble ?? fetched.trouble;
}

function withPlace(file: PushFile, saved: Saved | undefined): PushFile {
  return saved ? ({ ...file, saved_as: resolve(saved.path) } as PushFile) : file;
}

interface Settled {
  readonly folder: Folder;
  /** Where the text goes, when it is no standard stream. */
  readonly file: Destination | undefined;
}

/** A name that was kept free for a text becomes the folder of the files; what is something else stays. */
async function settle(reception: Reception): Promise<Settled> {
  const { options, say } = reception;
  const { output = '-', force } = options;
  const at = async (path: string, named: boolean): Promise<Folder> => ({
    path: await writable(path, reception),
    force,
    taken: new Set(),
    named,
  });
  if (reception.folder !== undefined) {
    const folder = await at(reception.folder, true);
    if (reception.file) folder.taken.add(nameKey(TEXT_FILE));
    return { folder, file: reception.file };
  }
  if (reception.file === undefined) return { folder: await at('.', false), file: undefined };
  if ((await lstat(output).catch(() => undefined)) === undefined) {
    await reception.file.discard();
    const folder = await at(output, true);
    if (options.json || !reception.push.payload) return { folder, file: undefined };
    folder.taken.add(nameKey(TEXT_FILE));
    return { folder, file: await reserveText(folder.path, force).catch(() => undefined) };
  }
  await say.warn(`${output} is no folder: the files go to the current one`);
  return { folder: await at('.', false), file: reception.file };
}

/** The folder, made where it is missing; a rescue folder when it cannot be written and the files would be lost. */
async function writable(path: string, { context, say, push }: Reception): Promise<string> {
  try {
    if (path !== '.') makeFolder(path);
    // What can be written shows in writing: a folder that was removed still claims that it can.
    await (await newFile({ path, force: false, taken: new Set() }, 'probe')).discard();
    return path;
  } catch (error) {
    const { code } = ((error as Error).cause ?? error) as NodeJS.ErrnoException;
    const lost = stillLeft(push) === undefined;
    const instead = lost ? await rescueFolder(context).catch(() => undefined) : undefined;
    // Each file tells for itself, should that fail too.
    if (instead === undefined) return path;
    const which = path === '.' ? 'the current folder' : path;
    await say.warn(`${which} cannot be written (${code}): the files go to ${instead}`);
    return instead;
  }
}
