import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import {
  type FileHandle,
  link,
  lstat,
  open,
  realpath,
  rename,
  stat,
  unlink,
} from 'node:fs/promises';
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
export async function reserveFile(named: string, force: boolean): Promise<Destination> {
  if (named === '' || /[/\\]$/.test(named)) {
    throw usageError('--output names no file', 'give the name of a file, or - for standard output');
  }
  const path = await behindLinks(named);
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory()) throw usageError(`${named} is a folder`, 'name a file in it');
  if (found?.isFIFO()) return fifo(path);
  // What stands below /dev and /proc is somebody's open file, and is not replaced.
  if (found && (!found.isFile() || /^\/(dev|proc)\//.test(named))) return device(named);
  if (found && !force) throw exists(named);
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

/** The file a link leads to, so that it is written and the link stays. */
async function behindLinks(path: string): Promise<string> {
  const found = await lstat(path).catch(() => undefined);
  if (!found?.isSymbolicLink() || /^\/(dev|proc)\//.test(path)) return path;
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
        socket.end(bytes, resolve);
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
    await file.chmod(0o600);
    await writeWhole(file, bytes);
  } catch (error) {
    const why = error instanceof CliError ? error.message : (error as NodeJS.ErrnoException).code;
    throw new CliError('failed', `it could not be saved to ${path} either (${why})`, {
      cause: error,
    });
  }
  return path;
}

/** A result that must not be lost. */
export interface Result {
  readonly bytes: string | Uint8Array;
  readonly what: 'link' | 'secret';
  /** The link, which may be shown on stderr where stdout fails; a secret may not. */
  readonly link?: string;
  /** Errors are told as JSON, so the link goes into the error. */
  readonly json: boolean;
}

/**
 * Gets a result to stdout; if that fails a link to stderr, and if that fails too, or for a secret, to a rescue
 * file. Never throws, so that what is left to say can be said: the error comes back.
 */
export async function deliver(context: Context, result: Result): Promise<CliError | undefined> {
  const { stdout, stderr, signal } = context;
  const trouble = stdout.closed
    ? 'closed'
    : await attempt(() => stdout.write(result.bytes), signal);
  if (trouble === undefined) return undefined;
  const problem = `standard output cannot be written (${trouble})`;
  if (result.link === undefined || stderr.closed)
    return rescued(context, result.bytes, result.what, problem);
  if (result.json)
    return new CliError('failed', `${problem}; the link is ${result.link}`, {
      mustBeTold: true,
      link: result.link,
    });
  const said = await attempt(() => stderr.write(`${result.link}\n`), signal);
  if (said !== undefined) return rescued(context, result.bytes, result.what, problem);
  // A standard output that was closed before we started looks like one sent to /dev/null on purpose.
  if (stdout.closed) return undefined;
  return new CliError('failed', `${problem}; the link was printed here instead`);
}

/** Saves a result to a rescue file and makes the error that tells where. */
export async function rescued(
  context: Context,
  bytes: string | Uint8Array,
  what: string,
  problem: string,
): Promise<CliError> {
  try {
    const path = await rescue(context, what, bytes);
    return new CliError('failed', `${problem}; the ${what} was saved to ${path}`, {
      hint: `read it, then remove it: rm '${path}'`,
      mustBeTold: true,
    });
  } catch (error) {
    const why = error instanceof CliError ? error.message : 'it could not be saved either';
    return new CliError('failed', `${problem}, and the ${what} is LOST: ${why}`, {
      cause: error,
      mustBeTold: true,
    });
  }
}

/** The code of what went wrong, or undefined; a write that a full pipe holds up ends with the signal. */
async function attempt(
  work: () => Promise<void>,
  signal: AbortSignal,
): Promise<string | undefined> {
  const stopped = new Promise<string>((resolve) => {
    signal.addEventListener('abort', () => resolve('interrupted'), { once: true });
  });
  try {
    return (await Promise.race([work(), stopped])) ?? undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'error';
  }
}
