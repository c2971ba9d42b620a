import { constants, type FileHandle, open, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { unreadable } from '../cli/source';
import type { Entry } from '../cli/terminal/output';
import { type Meter, meterFor } from '../cli/terminal/transfer-meter';
import { pipedFileName } from '../cli/values';
import type { Attachment } from '../client/form';
import type { Context } from '../platform/context';
import { phrase, usageError } from '../platform/errors';
import { copyToFile, fileBytes, type RegularFile, regularFile } from '../platform/file-bytes';
import { isSystemError } from '../platform/files/file-error';
import mediaTypes from './media-types.json';

interface OpenedFile {
  readonly name: string;
  readonly file: RegularFile;
  close(): Promise<void>;
}

/**
 * Opens the files to attach, in order. Standard input that is not a file is copied to a temporary one, since its length
 * must be known.
 * @throws CliError (usage) for what cannot be attached; no file is left open then
 */
export async function openAttachments(paths: readonly string[], context: Context) {
  const opened: OpenedFile[] = [];
  const close = async () => {
    for (const file of opened) await file.close();
  };
  try {
    for (const path of paths) {
      const name = pipedFileName(path);
      const file = await (name === undefined
        ? openFile(path, paths.length)
        : openStdin(name, context));
      opened.push(file);
      refuseDuplicate(opened.slice(0, -1), file);
    }
  } catch (error) {
    await close();
    throw error;
  }
  const files = opened.map(
    ({ name, file }): Attachment => ({
      name,
      type: mediaType(name),
      size: file.size,
      bytes: () => fileBytes(file),
    }),
  );
  return { files, close };
}

/** @param files the number of files to attach */
async function openFile(path: string, files: number): Promise<OpenedFile> {
  let handle: FileHandle | undefined;
  try {
    // Opening a device can have an effect, so that stat comes first. O_NONBLOCK is for a pipe that comes in between.
    refuseIrregular(path, await stat(path));
    handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const file = await regularFile(`"${path}"`, handle.fd);
    refuseIrregular(path, file.stats);
    return { name: basename(path), file, close: async () => handle?.close() };
  } catch (error) {
    await handle?.close();
    if (!isSystemError(error)) throw error;
    throw unreadable(path, error, files > 1 ? phrase('name-message') : undefined);
  }
}

function refuseIrregular(path: string, stats: { isFile(): boolean; isDirectory(): boolean }): void {
  if (stats.isFile()) return;
  if (stats.isDirectory())
    throw usageError(`"${path}" is a folder; only files can be attached`, phrase('pack-folder'));
  throw usageError(
    `"${path}" is a pipe or device; only files can be attached`,
    phrase('pipe-content'),
  );
}

/** Compares devices and inodes, as two paths may name the same file. */
function refuseDuplicate(opened: readonly OpenedFile[], { file }: OpenedFile): void {
  const { dev, ino } = file.stats;
  const twin = opened.find(({ file: { stats } }) => stats.dev === dev && stats.ino === ino);
  if (!twin) return;
  const [first, second] = [twin.file.name, file.name];
  throw usageError(
    first === second ? `${first} is attached twice` : `${first} and ${second} are the same file`,
    'remove one of them',
  );
}

async function openStdin(name: string, { stdin, signal }: Context): Promise<OpenedFile> {
  const describe = (fd: number, start?: number) => regularFile('standard input', fd, start);
  const from = stdin.file?.();
  if (from) return { name, file: await describe(from.fd, from.start), close: async () => {} };
  const { handle, close } = await copyToFile(stdin.bytes(), signal);
  return { name, file: await describe(handle.fd), close };
}

/** Shows the progress on a terminal. */
export async function sendFiles<T>(
  entry: Entry,
  files: readonly Attachment[],
  send: (metered: readonly Attachment[]) => Promise<T>,
): Promise<T> {
  const meter = meterFor(entry, files.length);
  try {
    return await send(files.map((file, index) => metered(file, index, meter)));
  } finally {
    await meter.ends();
  }
}

function metered(file: Attachment, index: number, meter: Meter): Attachment {
  return {
    ...file,
    bytes: async function* () {
      meter.begins(index, file.shownAs ?? file.name, file.size);
      for await (const chunk of file.bytes()) {
        yield chunk;
        meter.moved(chunk.byteLength);
      }
    },
  };
}

export function mediaType(name: string): string {
  const extension = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? '';
  return new Map(Object.entries(mediaTypes)).get(extension) ?? 'application/octet-stream';
}
