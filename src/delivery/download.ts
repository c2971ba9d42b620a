import { writeSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { size } from '../byte-size';
import type { Api } from '../client/client';
import { discardBody, type FileAnswer, worthAnotherTry } from '../client/file-link';
import { TransportError } from '../client/transport/transport';
import type { PushFile } from '../contract';
import { CliError } from '../errors';
import { type Folder, newFile } from './new-file';
import { safeName } from './safe-name';

/** What a download needs. */
export interface DownloadTools {
  readonly api: Pick<Api, 'openFile'>;
  readonly signal: AbortSignal;
  sleep(milliseconds: number): Promise<void>;
  /** Called when a try begins, with the length if known, and for every piece. */
  readonly progress: { begins(length: number | undefined): void; moved(bytes: number): void };
  /** Called with the reason before another try. */
  again(failure: CliError, seconds: number): Promise<void>;
}

export interface SavedFile {
  readonly path: string;
  readonly bytes: number;
}

const TRIES = 3;
/** Waits before the second and third try, in seconds. */
const PAUSES = [1, 3];
const LONGEST_PAUSE = 60;

/**
 * Downloads a file into a folder under a safe, free name. A download that breaks is tried three times: that takes no
 * view.
 * @throws CliError; no partial file is left then
 */
export async function saveFile(
  file: PushFile,
  folder: Folder,
  tools: DownloadTools,
): Promise<SavedFile> {
  return withRetries(tools, async () => {
    const answer = await tools.api.openFile(file.url);
    tools.progress.begins(answer.length);
    try {
      await refuseTooLarge(answer, folder);
      return await saveAnswer(answer, file, folder, tools);
    } catch (error) {
      await discardBody(answer.body).catch(() => {});
      throw error;
    }
  });
}

async function saveAnswer(
  answer: FileAnswer,
  file: PushFile,
  folder: Folder,
  tools: DownloadTools,
): Promise<SavedFile> {
  const target = await newFile(folder, safeName(file.filename, folder.named)).catch(failedWriting);
  try {
    const bytes = await copyBody(answer, tools, (chunk) => writeAll(target.handle.fd, chunk));
    return { path: await target.keep().catch(failedWriting), bytes };
  } catch (error) {
    await target.discard();
    throw error;
  }
}

/** Tries a download up to three times, as long as it is the connection that fails. */
export async function withRetries<T>(tools: DownloadTools, work: () => Promise<T>): Promise<T> {
  for (let pause = 0; ; pause++) {
    try {
      return await work();
    } catch (error) {
      const failure = asFailure(error);
      const wait = worthAnotherTry(error);
      if (wait === undefined || tools.signal.aborted || pause + 1 >= TRIES) throw failure;
      const seconds = Math.max(PAUSES[pause] ?? 0, wait);
      if (seconds > LONGEST_PAUSE) throw failure;
      await tools.again(failure, seconds);
      await tools.sleep(seconds * 1000);
    }
  }
}

/** `unreachable` only if the request was not sent. */
function asFailure(error: unknown): CliError {
  if (error instanceof CliError) return error;
  if (!(error instanceof TransportError)) throw error;
  return new CliError(error.sent ? 'failed' : 'unreachable', error.message, {
    hint: error.hint,
    cause: error,
  });
}

/**
 * Passes the body of a response to `write`, checks its length, and returns that.
 * @throws CliError, TransportError
 */
export async function copyBody(
  { body, length }: FileAnswer,
  { progress }: Pick<DownloadTools, 'progress'>,
  write: (chunk: Uint8Array) => void | Promise<void>,
): Promise<number> {
  let received = 0;
  for await (const chunk of body) {
    received += chunk.byteLength;
    if (length !== undefined && received > length) throw new TransportError(MORE, { sent: true });
    await write(chunk);
    progress.moved(chunk.byteLength);
  }
  if (length !== undefined && received < length)
    throw new TransportError('the download was cut short', { sent: true });
  return received;
}

const MORE = 'more came than was announced';

/** Synchronous: writing by the thread pool costs a third of the speed, and there is nothing else to do meanwhile. */
function writeAll(fd: number, chunk: Uint8Array): void {
  try {
    // A full disk takes a part without an error; the next write fails with ENOSPC.
    for (let written = 0; written < chunk.byteLength; ) written += writeSync(fd, chunk, written);
  } catch (error) {
    failedWriting(error as NodeJS.ErrnoException);
  }
}

async function refuseTooLarge({ length }: FileAnswer, folder: Folder): Promise<void> {
  if (length === undefined) return;
  const { bavail, bsize, blocks } = await statfs(folder.path).catch(failedWriting);
  if (blocks === 0 || length <= bavail * bsize) return;
  throw new CliError(
    'failed',
    `there is no room for it: ${size(length)} in ${folder.path}, where ${size(bavail * bsize)} are free`,
  );
}

function failedWriting(error: NodeJS.ErrnoException): never {
  if (error instanceof CliError) throw error;
  const why = error.code === 'ENOSPC' ? 'there is no room left' : `${error.code}`;
  throw new CliError('failed', `it cannot be written (${why})`, { cause: error });
}
