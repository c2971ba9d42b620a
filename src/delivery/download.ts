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

/** What a download needs of the world. */
export interface Tools {
  readonly api: Pick<Api, 'openFile'>;
  readonly signal: AbortSignal;
  sleep(milliseconds: number): Promise<void>;
  /** Told when a try begins, with the bytes that will come, and of every piece. */
  readonly progress: { begins(length: number | undefined): void; moved(bytes: number): void };
  /** Told why a try failed, when another one follows. */
  again(failure: CliError, seconds: number): Promise<void>;
}

/** Where a file went, and its size. */
export interface Saved {
  readonly path: string;
  readonly bytes: number;
}

const TRIES = 3;
/** Waits before the second and third try, in seconds. */
const PAUSES = [1, 3];
const LONGEST_PAUSE = 60;

/**
 * Downloads a file into a folder, under a safe name that is free, and says which. A download that
 * breaks is tried three times: no view is used by it.
 * @throws CliError; nothing is left behind then
 */
export async function saveFile(file: PushFile, folder: Folder, tools: Tools): Promise<Saved> {
  return trying(tools, async () => {
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
  tools: Tools,
): Promise<Saved> {
  const target = await newFile(folder, safeName(file.filename, folder.named)).catch(failedWriting);
  try {
    const bytes = await writeThrough(answer, tools, (chunk) => writeAll(target.handle.fd, chunk));
    return { path: await target.keep().catch(failedWriting), bytes };
  } catch (error) {
    await target.discard();
    throw error;
  }
}

/** Runs a download up to three times, as long as it is the connection that fails. */
export async function trying<T>(tools: Tools, work: () => Promise<T>): Promise<T> {
  for (let pause = 0; ; pause++) {
    try {
      return await work();
    } catch (error) {
      const failure = asFailure(error);
      const told = worthAnotherTry(error);
      if (told === undefined || tools.signal.aborted || pause + 1 >= TRIES) throw failure;
      const seconds = Math.max(PAUSES[pause] ?? 0, told);
      if (seconds > LONGEST_PAUSE) throw failure;
      await tools.again(failure, seconds);
      await tools.sleep(seconds * 1000);
    }
  }
}

/** Nothing happened when the other side was not reached; otherwise a file just did not come. */
function asFailure(error: unknown): CliError {
  if (error instanceof CliError) return error;
  if (!(error instanceof TransportError)) throw error;
  return new CliError(error.sent ? 'failed' : 'unreachable', error.message, {
    hint: error.hint,
    cause: error,
  });
}

/**
 * Hands every byte of an answer to `write`, makes sure that they are as many as announced, and returns how
 * many they were.
 * @throws CliError, TransportError
 */
export async function writeThrough(
  { body, length }: FileAnswer,
  { progress }: Pick<Tools, 'progress'>,
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

/**
 * Writes at once, on this thread: what just came in is still near. Handing it to another one costs a third
 * of the speed, and there is nothing else to do meanwhile.
 */
function writeAll(fd: number, chunk: Uint8Array): void {
  try {
    // A full disk takes what it can: the rest tells why.
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
