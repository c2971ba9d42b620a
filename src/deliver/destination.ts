import { closeSync, constants, fstatSync, openSync, type Stats, statSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { type CliError, phrase, usageError } from '../platform/errors';
import { type TemporaryFile, temporaryFile } from '../platform/files/atomic-file';
import { codeOf, means, whyUnwritable } from '../platform/files/file-error';
import { ForeignLink, followed, isPlanted, type User } from '../platform/files/owner';
import type { Retrieval } from '../take/retrieval';
import { newFile } from './new-file';
import type { Folder } from './safe-name';

/** A place for a secret, reserved before the secret is fetched. */
export interface Destination {
  /** Writes the bytes. Returns the path of a file; undefined for other places. */
  commit(bytes: string | Uint8Array): Promise<string | undefined>;
  discard(): Promise<void>;
  /** Makes sure that the text arrived, if `commit` could not know. */
  finish?(retrieval: Retrieval): Promise<void>;
  /** Set if the user named a folder only: the file gets `name` if it is free; `taken` has the names of this run. */
  readonly inFolder?: { readonly name: string; readonly taken: Set<string> };
}

const TEXT_FILE = 'secret.txt';

/**
 * Reserves a file in a folder, which `commit` names `TEXT_FILE`, or adds a number to the name if it is taken.
 * @throws CliError (usage) when the folder cannot be written to
 */
export async function reserveText(folder: Folder): Promise<Destination> {
  const file = await newFile(folder, TEXT_FILE).catch((error) => {
    throw unwritable(join(folder.path, TEXT_FILE), error);
  });
  const inFolder = { name: TEXT_FILE, taken: folder.taken };
  return { ...written(file, file.keep), inFolder };
}

function written(file: TemporaryFile, name: () => Promise<string>): Destination {
  return {
    commit: async (bytes) => {
      try {
        await file.handle.writeFile(bytes);
        return await name();
      } catch (error) {
        await file.discard();
        throw error;
      }
    },
    discard: file.discard,
  };
}

/**
 * Creates a temporary file, which `commit` renames. A character device, FIFO or descriptor is written to directly.
 * @throws CliError (usage) when the file exists and `force` is not set, its folder cannot be written to, or another user
 * prepared what would be written to
 */
export async function reserveFile(
  wanted: string,
  force: boolean,
  user: User,
): Promise<Destination> {
  if (wanted === '' || /[/\\]$/.test(wanted)) {
    throw usageError(
      `"${wanted}" is not the name of a file`,
      'use the name of a file, or - for standard output',
    );
  }
  const path = linkTarget(wanted, user);
  const stats = await stat(path).catch(() => undefined);
  if (!stats && path !== wanted)
    throw usageError(`"${wanted}" is a dangling symbolic link`, 'use the path of the file itself');
  if (stats?.isDirectory()) throw usageError(`"${wanted}" is a folder`, 'choose a file in it');
  if (stats?.isFIFO()) return fifo(path, user);
  if (stats?.isCharacterDevice() || (stats && isDescriptor(wanted))) return device(wanted);
  if (stats && !stats.isFile())
    throw usageError(`"${wanted}" is neither a file nor a pipe`, 'choose another file');
  if (stats && !force) throw exists(wanted);
  const file = await temporaryFile(dirname(path), basename(path)).catch((error) => {
    throw unwritable(path, error, means(error, 'missing') ? 'create its folder first' : undefined);
  });
  return written(file, async () => {
    // Another program may have created the file in the meantime.
    if (!(await file.moveTo(path, force))) throw exists(path);
    return wanted;
  });
}

/** Returns whether a path names an open file below /dev or /proc (proc(5)), which is not replaced. */
function isDescriptor(path: string): boolean {
  return /^\/(?:dev\/(?:std(?:in|out|err)|fd\/\d+)|proc\/[^/]+(?:\/task\/\d+)?\/fd\/\d+)$/.test(
    resolve(path),
  );
}

/**
 * Returns whether writes to a path may go to a terminal, an open file, or where our own output goes, as with `-`.
 * @throws CliError (usage) as `linkTarget` does
 */
export function isStream(path: string, user: User): boolean {
  if (path === '-' || isDescriptor(path)) return true;
  const stats = statSync(linkTarget(path, user), { throwIfNoEntry: false });
  return stats !== undefined && (stats.isCharacterDevice() || isOurOutput(stats));
}

function isOurOutput({ dev, ino }: Stats): boolean {
  return [1, 2].some((fd) => {
    try {
      const ours = fstatSync(fd);
      return ino !== 0 && ours.ino === ino && ours.dev === dev;
    } catch {
      return false;
    }
  });
}

/**
 * Returns the path that symbolic links lead to, as links are kept and their target is written.
 * @throws CliError (usage) if a link is another user's, or leads nowhere
 */
export function linkTarget(path: string, user: User): string {
  if (isDescriptor(path)) return path;
  try {
    return followed(path, user);
  } catch (error) {
    if (error instanceof ForeignLink) throw planted(error.path, 'symbolic link');
    throw unwritable(path, error);
  }
}

export function unwritable(path: string, error: unknown, hint?: string): CliError {
  return usageError(`cannot write "${path}" (${whyUnwritable(error)}); nothing was done`, hint);
}

/** Returns a flag for `open`, as another user may have put a link at the path that `linkTarget` returned. */
export function noFollow(path: string): number {
  return isDescriptor(path) ? 0 : constants.O_NOFOLLOW;
}

export function planted(path: string, what: 'symbolic link' | 'pipe' | 'file'): CliError {
  return usageError(
    `"${path}" is a ${what} of another user, in a folder that others can write to`,
    'nothing was fetched; use another path',
  );
}

function exists(path: string): CliError {
  return usageError(`"${path}" already exists`, phrase('overwrite'));
}

/** Opening a FIFO fails without a reader, so that it is opened before anything is fetched. */
async function fifo(path: string, user: User): Promise<Destination> {
  // A FileHandle would close the descriptor a second time, after the socket.
  let file: number;
  try {
    file = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK | noFollow(path));
  } catch (error) {
    throw usageError(
      codeOf(error) === 'ENXIO'
        ? `no program reads from "${path}"`
        : `cannot write "${path}" (${whyUnwritable(error)})`,
      'nothing was fetched',
    );
  }
  if (isPlanted(fstatSync(file), await stat(dirname(path)), user)) {
    closeSync(file);
    throw planted(path, 'pipe');
  }
  return {
    commit: async (bytes) => {
      const { Socket } = await import('node:net');
      const socket = new Socket({ fd: file, readable: false, writable: true });
      await new Promise<void>((resolve, reject) => {
        socket.once('error', reject);
        socket.end(bytes, (error?: Error | null) => (error ? reject(error) : resolve()));
      });
      return undefined;
    },
    discard: async () => closeSync(file),
  };
}

async function device(path: string): Promise<Destination> {
  return {
    commit: async (bytes) => {
      const file = await open(path, constants.O_WRONLY);
      await file.writeFile(bytes).finally(() => file.close());
      return undefined;
    },
    discard: async () => {},
  };
}
