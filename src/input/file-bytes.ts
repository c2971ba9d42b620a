import type { BigIntStats } from 'node:fs';
import { CliError } from '../errors';

/** A regular file that is open for reading. */
export interface OpenFile {
  /** What a person calls it. */
  readonly name: string;
  /** Its bytes begin here … */
  readonly start: number;
  /** … and are so many. */
  readonly size: number;
  /** What it was when it was opened. */
  readonly found: BigIntStats;
  /** Fills a buffer from a position of the file; returns how much came. */
  read(buffer: Uint8Array, position: number): Promise<number>;
  look(): Promise<BigIntStats>;
}

/** Large enough that handing a piece over costs little beside moving it. */
const CHUNK = 1024 * 1024;

/**
 * The bytes of a file, the next piece being read while one is sent, in two buffers by turns: a piece is good
 * until the next one is asked for. It yields exactly `size` bytes, or
 * @throws CliError (failed) when the file is not what it was when it was opened, or cannot be read
 */
export async function* fileBytes(file: OpenFile): AsyncGenerator<Uint8Array> {
  let position = file.start;
  const end = file.start + file.size;
  const room = Math.min(CHUNK, file.size);
  let [filling, spare] = [Buffer.allocUnsafeSlow(room), Buffer.allocUnsafeSlow(room)];
  const readNext = () => {
    [filling, spare] = [spare, filling];
    const reading =
      position < end ? readAt(file, filling.subarray(0, end - position), position) : undefined;
    // A failure is met when it is waited for; until then it is no unhandled one.
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
    // The descriptor may be closed once this is done.
    await next?.catch(() => {});
  }
  const now = await file.look();
  if (now.size !== file.found.size || now.mtimeNs !== file.found.mtimeNs) throw changed(file.name);
}

async function readAt(file: OpenFile, buffer: Buffer, position: number): Promise<Uint8Array> {
  const length = await file.read(buffer, position).catch((error) => {
    throw new CliError('failed', `${file.name} cannot be read on (${error.code}); ${NOTHING}`, {
      cause: error,
    });
  });
  if (length === 0) throw changed(file.name);
  return buffer.subarray(0, length);
}

const NOTHING = 'nothing was pushed, as the request was never completed';

function changed(name: string): CliError {
  return new CliError('failed', `${name} changed while it was being sent; ${NOTHING}`, {
    hint: 'try again when nothing writes to it, or push a copy',
  });
}
