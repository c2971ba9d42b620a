import { fstat, mkdtempSync, read, rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Input } from '../context';
import { CliError } from '../errors';
import type { OpenFile } from './file-bytes';

/** Standard input where it is redirected from a file whose length can be known; else undefined. */
export async function inputFile(input: Input): Promise<OpenFile | undefined> {
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

/** A temporary file that nobody can find, and how to be rid of it. */
interface Spooled {
  readonly handle: FileHandle;
  close(): Promise<void>;
}

/**
 * Copies a stream to a temporary file, 0600 in a folder 0700. It loses its name as soon as it is open, so
 * that it goes with the process, however that ends.
 * @throws CliError (failed) when there is no room for it; `signal`'s reason when it aborts
 */
export async function spool(
  bytes: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<Spooled> {
  let spooled: Spooled | undefined;
  try {
    spooled = await nameless();
    for await (const chunk of bytes) {
      signal.throwIfAborted();
      await writeAll(spooled.handle, chunk);
    }
    return spooled;
  } catch (error) {
    await spooled?.close();
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall === undefined || syscall === 'read') throw error;
    throw new CliError(
      'failed',
      `standard input cannot be copied to ${tmpdir()} (${code}); nothing was sent`,
      { hint: 'point TMPDIR at a folder with room for it', cause: error },
    );
  }
}

async function nameless(): Promise<Spooled> {
  const folder = mkdtempSync(join(tmpdir(), 'pwpush-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const handle = await open(join(folder, 'stdin'), 'wx+', 0o600);
    // Windows keeps the names of open files: there it is removed at the end.
    const close = () => handle.close().finally(remove);
    return { handle, close };
  } finally {
    attempt(remove);
  }
}

function attempt(work: () => void): void {
  try {
    work();
  } catch {
    // `close` tries again.
  }
}

async function writeAll(handle: FileHandle, chunk: Uint8Array): Promise<void> {
  let written = 0;
  while (written < chunk.byteLength)
    written += (await handle.write(chunk, written, chunk.byteLength - written)).bytesWritten;
}
