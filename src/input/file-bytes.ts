import type { BigIntStats } from 'node:fs';
import { CliError } from '../errors';

/** A regular file that is open for reading. */
export interface RegularFile {
  /** For messages. */
  readonly name: string;
  /** Position of the first byte to read. */
  readonly start: number;
  /** Bytes to read. */
  readonly size: number;
  /** Its state when it was opened. */
  readonly found: BigIntStats;
  /** Reads into a buffer from a position of the file; returns how many bytes. */
  read(buffer: Uint8Array, position: number): Promise<number>;
  look(): Promise<BigIntStats>;
}

/** Large enough that the cost of a call is small beside that of the copy. */
const CHUNK = 1024 * 1024;

/**
 * Yields exactly `size` bytes of a file. Reads ahead into a second buffer while a piece is sent: a piece is valid until
 * the next one is requested.
 * @throws CliError (failed) if the file has changed since it was opened, or cannot be read
 */
export async function* fileBytes(file: RegularFile): AsyncGenerator<Uint8Array> {
  let position = file.start;
  const end = file.start + file.size;
  const room = Math.min(CHUNK, file.size);
  let [filling, spare] = [Buffer.allocUnsafeSlow(room), Buffer.allocUnsafeSlow(room)];
  const readNext = () => {
    [filling, spare] = [spare, filling];
    const reading =
      position < end ? readAt(file, filling.subarray(0, end - position), position) : undefined;
    // Handled where it is awaited; until then Node must not report an unhandled rejection.
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
    // The caller may close the descriptor once this has returned.
    await next?.catch(() => {});
  }
  const now = await file.look();
  if (now.size !== file.found.size || now.mtimeNs !== file.found.mtimeNs) throw changed(file.name);
}

async function readAt(file: RegularFile, buffer: Buffer, position: number): Promise<Uint8Array> {
  const length = await file.read(buffer, position).catch((error) => {
    throw new CliError('failed', `${file.name} cannot be read on (${error.code}); ${NOT_PUSHED}`, {
      cause: error,
    });
  });
  if (length === 0) throw changed(file.name);
  return buffer.subarray(0, length);
}

const NOT_PUSHED = 'nothing was pushed, as the request was never completed';

function changed(name: string): CliError {
  return new CliError('failed', `${name} changed while it was being sent; ${NOT_PUSHED}`, {
    hint: 'try again when nothing writes to it, or push a copy',
  });
}
