import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, realpath, rename, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { type CliError, usageError } from '../errors';
import { nameOnce, writeWhole } from './new-file';

/** A place for a secret that was made sure of before the secret was fetched. */
export interface Destination {
  /** Writes everything and gives it its name. */
  commit(bytes: string | Uint8Array): Promise<void>;
  /** Leaves nothing behind. */
  discard(): Promise<void>;
  /** Its path, where the user named the folder only. */
  readonly inFolder?: string;
}

/** What the text of a push is called in a folder. */
export const TEXT_FILE = 'secret.txt';

/**
 * Makes sure that the text of a push can be written to a file of that name in a folder.
 * @throws CliError (usage) as `reserveFile` does
 */
export async function reserveText(folder: string, force: boolean): Promise<Destination> {
  const path = join(folder, TEXT_FILE);
  return { ...(await reserveFile(path, force)), inFolder: path };
}

/**
 * Makes sure that a file can be written: opens a temporary one beside it, 0600, that `commit` renames.
 * A character device, a pipe and a descriptor are written to directly.
 * @throws CliError (usage) when the file exists and `force` is not given, or its folder cannot be written
 */
export async function reserveFile(named: string, force: boolean): Promise<Destination> {
  if (named === '' || /[/\\]$/.test(named)) {
    throw usageError('--output names no file', 'give the name of a file, or - for standard output');
  }
  const path = await behindLinks(named);
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory()) throw usageError(`${named} is a folder`, 'name a file in it');
  if (found?.isFIFO()) return fifo(path);
  if (found?.isCharacterDevice() || (found && isDescriptor(named))) return device(named);
  if (found && !found.isFile())
    throw usageError(`${named} is neither a file nor a pipe`, 'name another place');
  if (found && !force) throw exists(named);
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`);
  const file = await openNew(temporary, path);
  return {
    commit: async (bytes) => {
      try {
        await writeWhole(file, bytes);
        await (force ? rename(temporary, path) : giveName(temporary, path));
      } catch (error) {
        await unlink(temporary).catch(() => {});
        throw error;
      }
    },
    discard: async () => {
      await file.close().catch(() => {});
      await unlink(temporary).catch(() => {});
    },
  };
}

/** Names of open files, which are not replaced: nothing else below /dev and /proc is one (proc(5)). */
function isDescriptor(path: string): boolean {
  return /^\/(?:dev\/(?:std(?:in|out|err)|fd\/\d+)|proc\/[^/]+(?:\/task\/\d+)?\/fd\/\d+)$/.test(
    resolve(path),
  );
}

/** The file a link leads to, so that it is written and the link stays. */
async function behindLinks(path: string): Promise<string> {
  const found = await lstat(path).catch(() => undefined);
  if (!found?.isSymbolicLink() || isDescriptor(path)) return path;
  try {
    return await realpath(path);
  } catch {
    throw usageError(`${path} is a link to nothing`, 'name the file itself');
  }
}

async function openNew(temporary: string, path: string): Promise<FileHandle> {
  try {
    const file = await open(temporary, 'wx', 0o600);
    // A umask can take from ourselves what we need.
    await file.chmod(0o600);
    return file;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw usageError(
      `${path} cannot be written (${code}): nothing was fetched`,
      code === 'ENOENT' ? 'make its folder first' : undefined,
    );
  }
}

/** A file that came to be in the meantime is not replaced. */
async function giveName(temporary: string, path: string): Promise<void> {
  if (!(await nameOnce(temporary, path))) throw exists(path);
}

function exists(path: string): CliError {
  return usageError(`${path} exists and was left as it is`, 'overwrite it with --force');
}

/** Opened before anything is fetched: where nobody reads, opening would wait for ever. */
async function fifo(path: string): Promise<Destination> {
  let file: FileHandle;
  try {
    file = await open(path, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw usageError(
      code === 'ENXIO' ? `nobody reads from ${path}` : `${path} cannot be written (${code})`,
      'nothing was fetched',
    );
  }
  return {
    commit: async (bytes) => {
      const { Socket } = await import('node:net');
      const socket = new Socket({ fd: file.fd, readable: false, writable: true });
      await new Promise<void>((resolve, reject) => {
        socket.once('error', reject);
        socket.end(bytes, (error?: Error | null) => (error ? reject(error) : resolve()));
      });
    },
    discard: () => file.close().catch(() => {}),
  };
}

async function device(path: string): Promise<Destination> {
  return {
    commit: async (bytes) => {
      const file = await open(path, constants.O_WRONLY);
      await file.writeFile(bytes).finally(() => file.close());
    },
    discard: async () => {},
  };
}
