import { fstat, mkdtempSync, read, rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Input } from '../context';
import { CliError } from '../errors';
import type { RegularFile } from './file-bytes';

/** Standard input if it is redirected from a file; else undefined. */
export async function stdinFile(input: Input): Promise<RegularFile | undefined> {
  const from = input.file?.();
  if (from === undefined) return undefined;
  const look = () => promisify(fstat)(from.fd, { bigint: true });
  const found = await look();
  return {
    name: 'standard input',
    start: from.start,
    size: Math.max(0, Number(found.size) - from.start),
    found,
    read: async (buffer, position) =>
      (await promisify(read)(from.fd, buffer, 0, buffer.length, position)).bytesRead,
    look,
  };
}

/** A temporary file without a name. */
interface NamelessFile {
  readonly handle: FileHandle;
  close(): Promise<void>;
}

/**
 * Copies a stream to a temporary file, 0600 in a folder 0700. It is unlinked as soon as it is open, so that it is gone
 * however the process ends.
 * @throws CliError (failed) if there is no room for it; `signal`'s reason if it aborts
 */
export async function copyToFile(
  bytes: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<NamelessFile> {
  let file: NamelessFile | undefined;
  try {
    file = await namelessFile();
    for await (const chunk of bytes) {
      signal.throwIfAborted();
      await writeAll(file.handle, chunk);
    }
    return file;
  } catch (error) {
    await file?.close();
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall === undefined || syscall === 'read') throw error;
    throw new CliError(
      'failed',
      `standard input cannot be copied to ${tmpdir()} (${code}); nothing was sent`,
      { hint: 'point TMPDIR at a folder with room for it', cause: error },
    );
  }
}

async function namelessFile(): Promise<NamelessFile> {
  const folder = mkdtempSync(join(tmpdir(), 'pwpush-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const handle = await open(join(folder, 'stdin'), 'wx+', 0o600);
    // Windows does not unlink open files: there it is removed on close.
    const close = () => handle.close().finally(remove);
    return { handle, close };
  } finally {
    ignoringErrors(remove);
  }
}

function ignoringErrors(work: () => void): void {
  try {
    work();
  } catch {
    // `close` removes it again.
  }
}

async function writeAll(handle: FileHandle, chunk: Uint8Array): Promise<void> {
  let written = 0;
  while (written < chunk.byteLength)
    written += (await handle.write(chunk, written, chunk.byteLength - written)).bytesWritten;
}
