import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, link, open, rename, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Context } from '../context';
import { CliError, usageError } from '../errors';
import { makeFolder } from '../profile/folder';
import { stateFolder } from '../profile/place';

/** A place for a secret that was made sure of before the secret was fetched. */
export interface Destination {
  /** Writes everything and gives it its name. */
  commit(bytes: string | Uint8Array): Promise<void>;
  /** Leaves nothing behind. */
  discard(): Promise<void>;
}

/**
 * Makes sure that a file can be written: opens a temporary one beside it, 0600, that `commit` renames.
 * A device or pipe is written to directly.
 * @throws CliError (usage) when the file exists and `force` is not given, or its folder cannot be written
 */
export async function reserveFile(path: string, force: boolean): Promise<Destination> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory()) throw usageError(`${path} is a folder`, 'name a file in it');
  if (found && !found.isFile()) return device(path);
  if (found && !force) throw exists(path);
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`);
  const file = await openNew(temporary, path);
  return {
    commit: async (bytes) => {
      try {
        await writeWhole(file, bytes);
        await (force ? rename(temporary, path) : nameOnce(temporary, path));
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

async function openNew(temporary: string, path: string): Promise<FileHandle> {
  try {
    return await open(temporary, 'wx', 0o600);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw usageError(
      `${path} cannot be written (${code}): nothing was fetched`,
      code === 'ENOENT' ? 'make its folder first' : undefined,
    );
  }
}

async function writeWhole(file: FileHandle, bytes: string | Uint8Array): Promise<void> {
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** `link` fails where `rename` would replace a file that came to be in the meantime. */
async function nameOnce(temporary: string, path: string): Promise<void> {
  try {
    await link(temporary, path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw exists(path);
    // File systems without hard links.
    await rename(temporary, path);
    return;
  }
  await unlink(temporary);
}

function exists(path: string): CliError {
  return usageError(`${path} exists and was left as it is`, 'overwrite it with --force');
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

/**
 * Saves what could not be delivered to a 0600 file in the state folder, and returns its path.
 * @throws CliError (failed) when that cannot be done either
 */
export async function rescue(
  context: Context,
  what: string,
  bytes: string | Uint8Array,
): Promise<string> {
  const folder = stateFolder(context);
  const time = context.now().toISOString().replace(/[:.]/g, '-');
  const path = join(folder, `${what}-${time}-${randomBytes(4).toString('hex')}`);
  try {
    makeFolder(folder);
    const file = await open(path, 'wx', 0o600);
    await writeWhole(file, bytes);
  } catch (error) {
    const why = error instanceof CliError ? error.message : (error as NodeJS.ErrnoException).code;
    throw new CliError('failed', `it could not be saved to ${path} either (${why})`, {
      cause: error,
    });
  }
  return path;
}

/**
 * Gets a result that must not be lost to stdout; if that fails to stderr (only `shown`, which may be seen),
 * and if that fails too to a rescue file. Never throws, so that what is left to say can be said: the
 * error comes back.
 * @param shown what stands for the result on stderr; undefined for a secret
 */
export async function deliver(
  context: Context,
  result: string | Uint8Array,
  what: 'link' | 'secret',
  shown?: string,
): Promise<CliError | undefined> {
  const { stdout, stderr } = context;
  const trouble = stdout.closed ? 'closed' : await attempt(() => stdout.write(result));
  if (trouble === undefined) return undefined;
  const said =
    shown !== undefined &&
    !stderr.closed &&
    (await attempt(() => stderr.write(`${shown}\n`))) === undefined;
  // A standard output that was closed before we started looks like one sent to /dev/null on purpose.
  if (said && stdout.closed) return undefined;
  const problem = `standard output cannot be written (${trouble})`;
  if (said) return new CliError('failed', `${problem}; the ${what} was printed here instead`);
  return rescued(context, result, what, problem);
}

/** Saves a result to a rescue file and makes the error that tells where. */
export async function rescued(
  context: Context,
  result: string | Uint8Array,
  what: string,
  problem: string,
): Promise<CliError> {
  try {
    const path = await rescue(context, what, result);
    return new CliError('failed', `${problem}; the ${what} was saved to ${path}`, {
      hint: `read it, then remove it: rm '${path}'`,
    });
  } catch (error) {
    const why = error instanceof CliError ? error.message : 'it could not be saved either';
    return new CliError('failed', `${problem}, and the ${what} is LOST: ${why}`, { cause: error });
  }
}

async function attempt(work: () => Promise<void>): Promise<string | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'error';
  }
}
