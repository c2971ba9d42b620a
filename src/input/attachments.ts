import { constants, type FileHandle, open, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Attachment } from '../client/form';
import type { Context } from '../context';
import { limits } from '../contract';
import { type CliError, usageError } from '../errors';
import { fileBytes, type OpenFile } from './file-bytes';
import { mediaType } from './media-type';
import { unreadable } from './source';

/** Files that were opened to be sent along. */
export interface Attachments {
  readonly files: readonly Attachment[];
  /** Leaves no descriptor and no temporary file. */
  close(): Promise<void>;
}

/** What `--file` and `--filename` say; `-` is standard input. */
export interface Wanted {
  readonly paths: readonly string[];
  readonly filename?: string | undefined;
}

/** A file, its name for people, and how to be done with it. */
interface Opened {
  readonly path: string;
  readonly name: string;
  readonly file: OpenFile;
  close(): Promise<void>;
}

/**
 * Opens what is to be attached, in order. Standard input that is no file is copied to a temporary one
 * first, since its length must be known.
 * @throws CliError (usage) for what cannot be attached; nothing is left open then
 */
export async function openAttachments(wanted: Wanted, context: Context): Promise<Attachments> {
  checkWanted(wanted, context);
  const opened: Opened[] = [];
  const close = async () => {
    for (const one of opened) await one.close();
  };
  try {
    for (const path of wanted.paths) {
      opened.push(path === '-' ? await openInput(wanted, context) : await openFile(path));
      refuseTwice(opened);
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { files: opened.map(attachment), close };
}

function checkWanted({ paths, filename }: Wanted, context: Context): void {
  if (paths.length > limits.filesPerPush)
    throw usageError(
      `a push takes at most ${limits.filesPerPush} files; named were ${paths.length}`,
      'pack them into one, with tar or zip',
    );
  const inputs = paths.filter((path) => path === '-').length;
  if (inputs > 1) throw usageError('standard input can be attached once only');
  if (inputs === 1 && context.stdin.isTTY)
    throw usageError('--file - reads standard input, which is a terminal', 'pipe the file in');
  if (filename === undefined) return;
  if (inputs === 0)
    throw usageError('--filename names what --file - reads, and there is no --file -');
  if (filename === '' || /[/\\\0]/.test(filename))
    throw usageError('--filename takes a name without folders');
}

function attachment({ name, file }: Opened): Attachment {
  return { name, type: mediaType(name), size: file.size, bytes: () => fileBytes(file) };
}

async function openFile(path: string): Promise<Opened> {
  let handle: FileHandle | undefined;
  try {
    // Looked at first, since opening alone can do something to a device; and opened without waiting for
    // the other end of what became a pipe in between.
    refuseIrregular(path, await stat(path));
    handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const opened = await opening(path, basename(path), handle);
    refuseIrregular(path, opened.file.found);
    return opened;
  } catch (error) {
    await handle?.close();
    throw (error as NodeJS.ErrnoException).syscall === undefined ? error : unreadable(path, error);
  }
}

async function opening(path: string, name: string, handle: FileHandle): Promise<Opened> {
  const found = await handle.stat({ bigint: true });
  const file = {
    name: path,
    start: 0,
    size: Number(found.size),
    found,
    read: async (buffer: Uint8Array, position: number) =>
      (await handle.read(buffer, 0, buffer.length, position)).bytesRead,
    look: () => handle.stat({ bigint: true }),
  };
  return { path, name, file, close: () => handle.close() };
}

function refuseIrregular(path: string, found: { isFile(): boolean; isDirectory(): boolean }): void {
  if (found.isFile()) return;
  if (found.isDirectory())
    throw usageError(
      `${path} is a folder; only files can be attached`,
      'pack it: tar cz FOLDER | pwpush push --file - --filename FOLDER.tar.gz',
    );
  throw usageError(
    `${path} is a pipe or device; only files can be attached`,
    'pipe its content in: … | pwpush push --file - --filename NAME',
  );
}

/** The same file by another path would be sent twice. */
function refuseTwice(opened: readonly Opened[]): void {
  const last = opened.at(-1);
  const twin = opened.slice(0, -1).find((one) => last && same(one.file, last.file));
  if (last && twin) throw twice(twin.path, last.path);
}

function same(one: OpenFile, other: OpenFile): boolean {
  return one.found.dev === other.found.dev && one.found.ino === other.found.ino;
}

function twice(one: string, other: string): CliError {
  const what = one === other ? `${one} is named twice` : `${one} and ${other} are the same file`;
  return usageError(what, 'leave one of them out');
}

async function openInput({ filename = 'stdin' }: Wanted, context: Context): Promise<Opened> {
  const { inputFile, spool } = await import('./stdin-file');
  const file = await inputFile(context.stdin);
  if (file) return { path: file.name, name: filename, file, close: async () => {} };
  const { handle, close } = await spool(context.stdin.bytes(), context.signal);
  return { ...(await opening('standard input', filename, handle)), close };
}
