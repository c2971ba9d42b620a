import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { CLAIM_EXTRA } from '../platform/claim';
import { TEMPORARY_EXTRA, type TemporaryFile, temporaryFile } from '../platform/files/atomic-file';
import { type Folder, fitted, nameKey, numbered } from './safe-name';

/**
 * Creates a file under a temporary name, 0600. `keep` gives it its name, or the next free one, and returns its path;
 * call `discard` if that throws.
 * @throws an error of the file system
 */
export async function newFile(folder: Folder, name: string) {
  const file = await newTemporary(folder, name);
  return { ...file, keep: () => nameIt(file, folder, name) };
}

export function newTemporary(
  { path }: Folder,
  name: string,
  claim?: string,
): Promise<TemporaryFile> {
  // Most file systems have names of at most 255 bytes; a claim by a later run makes the name longer.
  return temporaryFile(path, fitted(name, '', 255 - TEMPORARY_EXTRA - CLAIM_EXTRA), claim);
}

/** Gives a file its name, or the next free one; the file system decides a race for it. */
export async function nameIt(file: TemporaryFile, folder: Folder, name: string): Promise<string> {
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? name : numbered(name, number);
    if (folder.taken.has(nameKey(candidate))) continue;
    const path = join(folder.path, candidate);
    const stats = folder.force ? await lstat(path).catch(() => undefined) : undefined;
    if (!(await file.moveTo(path, stats?.isFile() ?? false))) continue;
    folder.taken.add(nameKey(candidate));
    return path;
  }
}
