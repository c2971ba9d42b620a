import { fstat, mkdtempSync, read, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type CliError, failedError, phrase } from './errors';

export type RegularFile = Awaited<ReturnType<typeof regularFile>>;

/**
 * Describes an open regular file from the byte `start` on.
 * @param name for messages
 */
export async function regularFile(name: string, fd: number, start = 0) {
  const look = () => promisify(fstat)(fd, { bigint: true });
  const stats = await look();
  return {
    name,
    start,
    stats,
    look,
    size: Math.max(0, Number(stats.size) - start),
    read: async (buffer: Uint8Array, position: number) =>
      (await promisify(read)(fd, buffer, 0, buffer.length, position)).bytesRead,
  };
}

/** In bytes. With chunks of 1 MiB, system calls are a small part of the cost of a copy. */
const CHUNK = 1024 * 1024;

/**
 * Yields exactly `size` bytes of a file. Reads ahead into a second buffer while a piece is sent: a piece is valid until
 * the next one is requested.
 * @throws CliError (failed) if the file has changed since it was opened, or cannot be read
 */
export async function* fileBytes(file: RegularFile): AsyncGenerator<Uint8Array> {
  if (file.size === 0) await checkEmpty(file);
  let position = file.start;
  const end = file.start + file.size;
  const room = Math.min(CHUNK, file.size);
  let [filling, spare] = [Buffer.allocUnsafeSlow(room), Buffer.allocUnsafeSlow(room)];
  const readNext = () => {
    [filling, spare] = [spare, filling];
    const reading =
      position < end ? readAt(file, filling.subarray(0, end - position), position) : undefined;
    // `await next` handles a rejection; before that, Node must not report it.
    reading?.catch(() => {});
    return reading;
  };
  let next = readNext();
  try {
    for (let chunk = await next; chunk !== undefined; chunk = await next) {
      position += chunk.length;
      next = readNext();
      yield chunk;
    }
  } finally {
    // The caller may close the descriptor once the generator has returned.
    await next?.catch(() => {});
  }
  const now = await file.look();
  if (now.size !== file.stats.size || now.mtimeNs !== file.stats.mtimeNs) throw changed(file.name);
}

/** Some files, such as those of /proc, have content though the system says that they have none. */
async function checkEmpty(file: RegularFile): Promise<void> {
  if ((await file.read(Buffer.alloc(1), file.start)) === 0) return;
  throw failedError([phrase('size-unknown', file.name), NOT_PUSHED], {
    hints: phrase('pipe-file'),
  });
}

async function readAt(file: RegularFile, buffer: Buffer, position: number): Promise<Uint8Array> {
  const length = await file.read(buffer, position).catch((error) => {
    throw failedError([phrase('read-in-part', file.name, `${error.code}`), NOT_PUSHED], {
      cause: error,
    });
  });
  if (length === 0) throw changed(file.name);
  return buffer.subarray(0, length);
}

const NOT_PUSHED = phrase('request-incomplete');

function changed(name: string): CliError {
  return failedError([phrase('changed-while-sent', name), NOT_PUSHED], {
    hints: phrase('push-copy'),
  });
}

/**
 * Copies a stream to a temporary file, 0600 in a folder 0700. It is unlinked as soon as it is open, so that it is gone
 * however the process ends.
 * @throws CliError (failed) if there is no room for it; `signal`'s reason if it aborts
 */
export async function copyToFile(bytes: AsyncIterable<Uint8Array>, signal: AbortSignal) {
  let file: Awaited<ReturnType<typeof namelessFile>> | undefined;
  try {
    file = await namelessFile();
    for await (const chunk of bytes) {
      signal.throwIfAborted();
      await file.handle.writeFile(chunk);
    }
    return file;
  } catch (error) {
    await file?.close();
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall === undefined || syscall === 'read') throw error;
    throw failedError([phrase('stdin-not-copied', tmpdir(), `${code}`), phrase('nothing-sent')], {
      hints: phrase('set-tmpdir'),
      cause: error,
    });
  }
}

async function namelessFile() {
  const folder = mkdtempSync(join(tmpdir(), 'pwpush-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const handle = await open(join(folder, 'stdin'), 'wx+', 0o600);
    // Windows does not unlink open files, so `close` removes the file too.
    const close = () => handle.close().finally(remove);
    return { handle, close };
  } finally {
    try {
      remove();
    } catch {
      // `close` tries again to remove the folder.
    }
  }
}
