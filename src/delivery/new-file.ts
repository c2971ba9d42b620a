import { randomBytes } from 'node:crypto';
import { type FileHandle, link, lstat, open, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fitted, nameKey, numbered } from './safe-name';

/** A folder that files are put into, and the names it was given in this run. */
export interface Folder {
  readonly path: string;
  /** Overwrite what was there before this run. */
  readonly force: boolean;
  readonly taken: Set<string>;
  /** The user named it: a file in it may begin with a dot. */
  readonly named?: boolean;
}

/** A file under a temporary name, 0600. */
export interface NewFile {
  readonly handle: FileHandle;
  /** Gives it its name, or the next free one, and returns its path. After a failure `discard` it. */
  keep(): Promise<string>;
  /** Leaves nothing of it. */
  discard(): Promise<void>;
}

/** Makes a file that gets its name when it is whole. Rejects with an error of the file system. */
export async function newFile(folder: Folder, name: string): Promise<NewFile> {
  const random = randomBytes(6).toString('hex');
  const part = `${fitted(name, '', 255 - random.length - '..'.length - '.part'.length)}`;
  const temporary = join(folder.path, `.${part}.${random}.part`);
  const handle = await open(temporary, 'wx', 0o600);
  // Whatever the umask leaves of it.
  await handle.chmod(0o600);
  const discard = async () => {
    await handle.close().catch(() => {});
    await unlink(temporary).catch(() => {});
  };
  return {
    handle,
    keep: async () => {
      await handle.close();
      return nameIt(temporary, folder, name);
    },
    discard,
  };
}

/** Names are tried until one was free; a race is decided by the file system. */
async function nameIt(temporary: string, folder: Folder, name: string): Promise<string> {
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? name : numbered(name, number);
    if (folder.taken.has(nameKey(candidate))) continue;
    const path = join(folder.path, candidate);
    const placed =
      folder.force && (await isRegular(path))
        ? await rename(temporary, path).then(() => true)
        : await nameOnce(temporary, path);
    if (!placed) continue;
    folder.taken.add(nameKey(candidate));
    return path;
  }
}

async function isRegular(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isFile() ?? false;
}

/** Names it unless there is something of that name. */
export async function nameOnce(temporary: string, path: string): Promise<boolean> {
  try {
    await link(temporary, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    return replacePlaceholder(temporary, path);
  }
  await unlink(temporary);
  return true;
}

/** Where there are no hard links: whoever makes the empty file has the name. */
async function replacePlaceholder(temporary: string, path: string): Promise<boolean> {
  try {
    await (await open(path, 'wx', 0o600)).close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
  await rename(temporary, path);
  return true;
}

/** Writes everything to the disk, and closes the file either way. */
export async function writeWhole(file: FileHandle, bytes: string | Uint8Array): Promise<void> {
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}
