import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdirSync,
  open,
  openSync,
  read,
  readFileSync,
  type Stats,
  statSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { HintName } from '../words/hints';
import { failedError, phrase, usageError } from './errors';
import { isSystemError, means, whyUnreadable, whyUnwritable } from './files/file-error';
import { type User, WRITABLE, whyForeign } from './files/owner';
import { syncFolder } from './files/sync';

interface OwnRule {
  readonly user: User;
  /** Errors name the path with this: `the config file`. */
  readonly what: string;
  /** Tells the user what to do if the owner or mode cannot be changed. */
  readonly instead: string;
  /** Tells the user what to do with what belongs to another user. */
  readonly ofOther?: string;
  /** Mode bits that a file of the user must not have; by default, those by which others can write. */
  readonly closed?: number;
}

/** @throws CliError (usage) if another user made the folder or can write to it; a missing folder is accepted */
export function checkFolder(path: string, rule: OwnRule): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats) checkOwn(stats, path, rule);
}

const { O_NONBLOCK = 0, O_RDONLY } = constants;

/**
 * Reads a file that pwpush keeps, unless another user made it or can write to it. Checks the opened file, as its path
 * may change. A pipe, which might never end, is refused.
 * @param flag more for `open`
 * @throws CliError (usage) as `checkFolder` and `smallText` do; errors of the file system
 */
export function readOwn(path: string, rule: OwnRule, flag = 0): string {
  const file = openSync(path, O_RDONLY | O_NONBLOCK | flag);
  try {
    const stats = fstatSync(file);
    if (stats.isFIFO()) throw usageError(`${rule.what} "${path}" is a pipe`, rule.instead);
    checkOwn(stats, path, rule);
    return smallText(readFileSync(file), `${rule.what} "${path}"`);
  } finally {
    closeSync(file);
  }
}

const MARK = Buffer.from('\ufeff');

/**
 * Removes the byte order mark that editors and PowerShell on Windows begin a text with.
 * @param place names the source in messages
 * @throws CliError (usage) for UTF-16: the first two bytes are a byte order mark, or a NUL beside another byte
 */
export function withoutMark(bytes: Buffer, place: string): Buffer {
  const [first, second] = bytes;
  const wide = first === 0 ? second !== 0 : second === 0;
  const isMark = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  if (bytes.length > 1 && (wide || isMark))
    throw usageError(`${place} is in UTF-16`, 'save it as UTF-8');
  return bytes.subarray(0, MARK.length).equals(MARK) ? bytes.subarray(MARK.length) : bytes;
}

/**
 * Decodes a text that a person wrote, such as settings, keys, a token or a passphrase; its lines end in `\n`. A secret
 * to push is not decoded, as each of its bytes counts.
 * @throws CliError (usage) as `withoutMark` does
 */
export function smallText(bytes: Buffer, place: string): string {
  return withoutMark(bytes, place).toString('utf8').replaceAll('\r\n', '\n');
}

/**
 * Yields the bytes of a file, which may be a pipe. A pipe that says nothing, or that nobody writes to, needs no thread
 * where the system and the runtime can help it: the end of a process waits for its threads.
 * @param check is called before anything is read
 * @throws what `check` throws; errors of the file system
 */
export async function* bytesIn(
  path: string,
  check = (_stats: Stats) => {},
): AsyncGenerator<Uint8Array> {
  // Elsewhere, a pipe without a writer would be at its end.
  const waits = !statSync(path).isFIFO() || !existsSync('/proc/self/fd');
  const fd = await promisify(open)(path, waits ? O_RDONLY : O_RDONLY | O_NONBLOCK);
  check(fstatSync(fd));
  if (waits) return yield* piecesOf(fd);
  const { Socket } = await import('node:net');
  const socket = new Socket({ fd, writable: false }).on('error', () => {});
  if (!socket.pending) return yield* socket;
  socket.destroy();
  yield* piecesOf(await promisify(open)(path, O_RDONLY));
}

/** A stream of a file takes 2 ms to load. */
async function* piecesOf(fd: number): AsyncGenerator<Uint8Array> {
  try {
    for (;;) {
      const room = Buffer.allocUnsafe(65_536);
      const { bytesRead } = await promisify(read)(fd, room, 0, room.length, null);
      if (bytesRead === 0) return;
      yield room.subarray(0, bytesRead);
    }
  } finally {
    closeSync(fd);
  }
}

/**
 * Reads a file, which may be a pipe or belong to another user.
 * @throws CliError (usage) if it cannot be read, or as `smallText` does
 */
export async function readText(path: string, what: string, rule?: OwnRule): Promise<string> {
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of bytesIn(path, (stats) => rule && checkOwn(stats, path, rule)))
      chunks.push(chunk);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw usageError(`cannot read the ${what} "${path}": ${whyUnreadable(error)}`);
  }
  return smallText(Buffer.concat(chunks), `the ${what} "${path}"`);
}

/** @throws CliError (usage) if another user made the file or folder, or can write to it */
export function checkOwn(stats: Stats, path: string, rule: OwnRule): void {
  const { user, what, instead, ofOther = 'make it yours with chown', closed = WRITABLE } = rule;
  // Root may have others read a file, as Kubernetes mounts secrets.
  const why = whyForeign(stats, user, stats.uid === 0 ? closed & WRITABLE : closed);
  if (why === undefined) return;
  const mode = closed & 0o044 ? 'go=' : closed === 0o002 ? 'o-w' : 'go-w';
  const fix = stats.uid === user ? `run chmod ${mode} '${path}'` : ofOther;
  throw usageError(`${what} "${path}" ${why}`, `${fix}, or ${instead}`);
}

/**
 * Creates a folder and its parents, 0700, synced to the disk; `mkdir` with `recursive` never returns below /proc.
 * @throws CliError (failed)
 */
export function makeFolder(path: string, hint?: HintName): void {
  try {
    make(path);
  } catch (error) {
    throw failedError(phrase('folder-not-made', path, whyUnwritable(error)), {
      hints: hint && phrase(hint),
      cause: error,
    });
  }
}

/** Returns the folders of a path that do not exist, innermost first. */
export function foldersMissing(path: string): string[] {
  const missing: string[] = [];
  let folder = resolve(path);
  while (!existsSync(folder) && folder !== dirname(folder)) {
    missing.push(folder);
    folder = dirname(folder);
  }
  return missing;
}

function make(path: string): void {
  // The folder usually exists, and `stat` takes less time than an error of `mkdir`.
  if (isFolder(path)) return;
  for (const folder of [...foldersMissing(dirname(path)).reverse(), path]) {
    try {
      mkdirSync(folder, { mode: 0o700 });
    } catch (error) {
      if (means(error, 'taken') && isFolder(folder)) continue;
      throw error;
    }
    try {
      // The umask may have taken bits away.
      chmodSync(folder, 0o700);
    } catch {
      // File systems without modes may refuse.
    }
    syncFolder(dirname(folder));
  }
}

const isFolder = (path: string) =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
