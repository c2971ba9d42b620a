import { writeSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import type { Api } from '../client/client';
import {
  type FileResponse,
  LinkError,
  NotResumed,
  type Resume,
  type Version,
  worthAnotherTry,
} from '../client/file-link';
import { retrying } from '../client/retry';
import { TransportError } from '../client/transport/network-errors';
import { discardBody } from '../client/transport/response';
import { size } from '../contract/byte-size';
import type { PushFile } from '../contract/decode';
import { CliError, failedError, phrase } from '../platform/errors';
import { whyUnwritable } from '../platform/files/file-error';
import { nameIt, newTemporary } from './new-file';
import type { PartialFiles } from './partial-files';
import { type Folder, nameIn } from './safe-name';

export interface DownloadTools {
  readonly openFile: Api['openFile'];
  readonly signal: AbortSignal;
  sleep(milliseconds: number): Promise<void>;
  readonly progress: { begins(length: number | undefined): void; moved(bytes: number): void };
  /** Reports the reason before another try. */
  retrying(failure: CliError, seconds: number): Promise<void>;
  /** Keeps an unfinished download, which is removed otherwise. */
  readonly partial?: PartialFiles | undefined;
}

export type SavedFile = Awaited<ReturnType<typeof saveFile>>;

/** In seconds, before the second and third try. */
const PAUSES = [1, 3];
const LONGEST_PAUSE = 60;
/** A link that breaks off after each byte would otherwise be resumed without end. */
const PROGRESS_BYTES = 16 * 1024;

/**
 * Downloads a file into a folder under a safe, free name. A download that breaks is resumed, or else tried three times:
 * neither uses a view. A download that fails leaves nothing, except in `tools.partial`.
 */
export async function saveFile(file: PushFile, folder: Folder, tools: DownloadTools) {
  const { partial, progress } = tools;
  const name = nameIn(folder, file.filename);
  return withRetries(tools, async (resume) => {
    const there = await partial?.take(file.url, folder.path);
    let target = there?.file;
    let version: Version | undefined = there?.begun;
    let response: FileResponse | undefined;
    try {
      response = await tools.openFile(file.url, resume, there?.begun);
      version = response.version;
      progress.begins(response.length);
      if (!target) {
        target = await newTemporary(folder, name, partial?.claim).catch(failedWriting);
        await partial?.begin(file.url, target, version);
      }
      const { handle } = target;
      await refuseTooLarge(response, folder);
      // A download that cannot be resumed, such as that of a decrypted file, begins again.
      if (there && response.from === undefined) await handle.truncate(0);
      if (response.from !== undefined) progress.moved(response.from);
      const bytes = await copyBody(response, tools, (chunk) => writeAll(handle.fd, chunk));
      const { size: written } = await handle.stat();
      if (written !== bytes)
        throw failedError(phrase('written-by-others', written, bytes), {
          hints: phrase('get-again'),
        });
      return { path: await nameIt(target, folder, name).catch(failedWriting), bytes };
    } catch (error) {
      if (partial && target && version && isBrokenOff(error, tools)) await partial.leave(target);
      else await target?.discard();
      if (response) await discardBody(response.body).catch(() => {});
      throw error;
    }
  });
}

/** Returns whether the rest may still be fetched after this error; otherwise a part would only fill the disk. */
function isBrokenOff(error: unknown, { signal }: DownloadTools): boolean {
  if (error instanceof NotResumed) return false;
  return signal.aborted || error instanceof TransportError || error instanceof LinkError;
}

/** Tries a download up to three times while the connection fails; it has three tries again after `PROGRESS_BYTES`. */
export async function withRetries<T>(
  tools: DownloadTools,
  work: (resume: Resume) => Promise<T>,
): Promise<T> {
  const { signal } = tools;
  const tries = () =>
    retrying<unknown>({
      pauses: PAUSES,
      wait: (error) => {
        const seconds = signal.aborted ? undefined : worthAnotherTry(error);
        return seconds !== undefined && seconds <= LONGEST_PAUSE ? seconds : undefined;
      },
      pause: async (seconds, error) => {
        await tools.retrying(error as CliError, seconds);
        await tools.sleep(seconds * 1000);
        return true;
      },
    });
  let retry = tries();
  let counted = 0;
  const resume: Resume = (broken, received) => {
    if (received >= counted + PROGRESS_BYTES) {
      retry = tries();
      counted = received;
    }
    return retry(broken);
  };
  for (;;) {
    try {
      return await work(resume);
    } catch (error) {
      if (!(await retry(error))) throw error;
    }
  }
}

/** Checks the length of the body, and returns it. */
export async function copyBody(
  { body, from = 0, length }: FileResponse,
  { progress }: Pick<DownloadTools, 'progress'>,
  write: (chunk: Uint8Array) => void | Promise<void>,
): Promise<number> {
  let received = from;
  for await (const chunk of body) {
    received += chunk.byteLength;
    if (length !== undefined && received > length)
      throw new TransportError(phrase('longer-than-announced'), { sent: true });
    await write(chunk);
    progress.moved(chunk.byteLength);
  }
  if (length !== undefined && received < length)
    throw new TransportError(phrase('cut-short'), { sent: true });
  return received;
}

/** Writes synchronously: the thread pool costs a third of the speed, and there is nothing else to do. */
function writeAll(fd: number, chunk: Uint8Array): void {
  try {
    // A full disk takes a part without an error; the next write fails with ENOSPC.
    for (let written = 0; written < chunk.byteLength; ) written += writeSync(fd, chunk, written);
  } catch (error) {
    failedWriting(error as NodeJS.ErrnoException);
  }
}

async function refuseTooLarge({ length: all, from = 0 }: FileResponse, folder: Folder) {
  if (all === undefined) return;
  const length = all - from;
  const { bavail, bsize, blocks } = await statfs(folder.path).catch(failedWriting);
  if (blocks === 0 || length <= bavail * bsize) return;
  throw failedError(phrase('too-little-space', folder.path, size(length), size(bavail * bsize)));
}

function failedWriting(error: NodeJS.ErrnoException): never {
  if (error instanceof CliError) throw error;
  throw failedError(phrase('file-unwritable', whyUnwritable(error)), { cause: error });
}
