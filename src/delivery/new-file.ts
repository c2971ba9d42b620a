import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { TEMPORARY_EXTRA, type TemporaryFile, temporaryFile } from '../system/atomic-file';
import { fitted, nameKey, numbered } from './safe-name';

/** A folder that files are written to. */
export interface Folder {
  readonly path: string;
  /** Replace files that existed before this run. */
  readonly force: boolean;
  /** Names that were used in this run. */
  readonly taken: Set<string>;
  /** The user named it: a file in it may begin with a dot. */
  readonly named?: boolean;
}

/** A file under a temporary name, 0600. */
export interface NewFile {
  readonly handle: TemporaryFile['handle'];
  /** Gives it its name, or the next free one, and returns its path. Call `discard` if this throws. */
  keep(): Promise<string>;
  /** Removes the file. */
  discard(): Promise<void>;
}

/** Creates a file that gets its name when it is complete. Throws an error of the file system. */
export async function newFile(folder: Folder, name: string): Promise<NewFile> {
  // 255 bytes are the longest name of most file systems.
  const file = await temporaryFile(folder.path, fitted(name, '', 255 - TEMPORARY_EXTRA));
  return { ...file, keep: () => nameIt(file, folder, name) };
}

/** Tries names until one is free; the file system decides a race. */
async function nameIt(file: TemporaryFile, folder: Folder, name: string): Promise<string> {
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? name : numbered(name, number);
    if (folder.taken.has(nameKey(candidate))) continue;
    const path = join(folder.path, candidate);
    if (!(await file.moveTo(path, folder.force && (await isRegular(path))))) continue;
    folder.taken.add(nameKey(candidate));
    return path;
  }
}

async function isRegular(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isFile() ?? false;
}
