import { constants } from 'node:fs';
import { type FileHandle, lstat, open, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { type CliError, usageError } from '../errors';
import { type TemporaryFile, temporaryFile } from '../system/atomic-file';

/** A place for a secret, reserved before the secret is fetched. */
export interface Destination {
  /** Writes everything; a file gets its name. */
  commit(bytes: string | Uint8Array): Promise<void>;
  /** Leaves nothing behind. */
  discard(): Promise<void>;
  /** Its path, where the user named the folder only. */
  readonly inFolder?: string;
}

/** The name for the text of a push in a folder. */
export const TEXT_FILE = 'secret.txt';

/**
 * Reserves `TEXT_FILE` in a folder.
 * @throws CliError (usage) as `reserveFile` does
 */
export async function reserveText(folder: string, force: boolean): Promise<Destination> {
  const path = join(folder, TEXT_FILE);
  return { ...(await reserveFile(path, force)), inFolder: path };
}

/**
 * Reserves a file: creates a temporary one beside it, which `commit` renames. Writes directly to a character device, FIFO
 * or descriptor.
 * @throws CliError (usage) when the file exists and `force` is not set, or its folder cannot be written to
 */
export async function reserveFile(named: string, force: boolean): Promise<Destination> {
  if (named === '' || /[/\\]$/.test(named)) {
    throw usageError('--output must be a file', 'use the name of a file, or - for standard output');
  }
  const path = await resolveLink(named);
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory()) throw usageError(`"${named}" is a folder`, 'choose a file in it');
  if (found?.isFIFO()) return fifo(path);
  if (found?.isCharacterDevice() || (found && isDescriptor(named))) return device(named);
  if (found && !found.isFile())
    throw usageError(`"${named}" is neither a file nor a pipe`, 'choose another file');
  if (found && !force) throw exists(named);
  const file = await temporaryFor(path);
  return {
    commit: async (bytes) => {
      try {
        await file.handle.writeFile(bytes);
        // Another program may have created the file since.
        if (!(await file.moveTo(path, force))) throw exists(path);
      } catch (error) {
        await file.discard();
        throw error;
      }
    },
    discard: file.discard,
  };
}

/** Names of open files below /dev and /proc (proc(5)), which are not replaced. */
function isDescriptor(path: string): boolean {
  return /^\/(?:dev\/(?:std(?:in|out|err)|fd\/\d+)|proc\/[^/]+(?:\/task\/\d+)?\/fd\/\d+)$/.test(
    resolve(path),
  );
}

/** The target of a symbolic link, so that it is written and the link is kept. */
async function resolveLink(path: string): Promise<string> {
  const found = await lstat(path).catch(() => undefined);
  if (!found?.isSymbolicLink() || isDescriptor(path)) return path;
  try {
    return await realpath(path);
  } catch {
    throw usageError(`"${path}" is a dangling symbolic link`, 'use the path of the file itself');
  }
}

async function temporaryFor(path: string): Promise<TemporaryFile> {
  try {
    return await temporaryFile(dirname(path), basename(path));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw usageError(
      `cannot write "${path}" (${code}); nothing was fetched`,
      code === 'ENOENT' ? 'create its folder first' : undefined,
    );
  }
}

function exists(path: string): CliError {
  return usageError(`"${path}" already exists`, 'overwrite it with --force');
}

/** Opened before anything is fetched, as this fails without a reader. */
async function fifo(path: string): Promise<Destination> {
  let file: FileHandle;
  try {
    file = await open(path, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw usageError(
      code === 'ENXIO' ? `no program reads from "${path}"` : `cannot write "${path}" (${code})`,
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
