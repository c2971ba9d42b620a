import { AgeError } from '../age-error';
import { MAX_HEADER } from './header';
import { inChunks } from './in-chunks';
import { type Bytes, derive, type Primitives, put, TAG, textOf } from './platform';

// The payload of an age file (https://c2sp.org/age, "Payload").

const CHUNK = 64 * 1024;
const NONCE = 16;
/** Bytes of a piece that `encryptPayload` yields. Many small pieces would take longer to send. */
const BATCH = 8 * (CHUNK + TAG);

export function payloadSize(plaintext: number): number {
  return NONCE + plaintext + Math.max(1, Math.ceil(plaintext / CHUNK)) * TAG;
}

/** A piece that the generator yields is valid until the next one is requested, since pieces share a buffer. */
export async function* encryptPayload(
  primitives: Primitives,
  fileKey: Uint8Array,
  plaintext: AsyncIterable<Uint8Array>,
): AsyncGenerator<Bytes, void, undefined> {
  const nonce = primitives.random(NONCE);
  const { seal, free } = await primitives.chacha(derive(primitives, fileKey, nonce, 'payload'));
  yield nonce;
  let number = 0;
  let filled = 0;
  let batch: Bytes | undefined;
  for await (const { chunk, last } of inChunks(plaintext, CHUNK)) {
    const sealed = await seal(chunkNonce(number++, last), chunk);
    batch ??= new Uint8Array(last ? chunk.length + TAG : BATCH);
    filled = put(sealed, batch, filled);
    free?.(sealed);
    if (last || filled === BATCH) {
      yield batch.subarray(0, filled);
      filled = 0;
    }
  }
}

/**
 * Decrypts a payload. It yields a chunk only after verifying it. The chunk is valid until the next one is requested,
 * and the payload is complete when the generator ends.
 * @throws AgeError (payload) when the payload was changed, truncated or extended
 */
export async function* decryptPayload(
  primitives: Primitives,
  fileKey: Uint8Array,
  nonce: Uint8Array,
  sealed: AsyncIterable<Uint8Array>,
): AsyncGenerator<Bytes, void, undefined> {
  const { open, free } = await primitives.chacha(derive(primitives, fileKey, nonce, 'payload'));
  let number = 0;
  let room: Bytes | undefined;
  for await (const { chunk, last } of inChunks(sealed, CHUNK + TAG)) {
    const plain = await open(chunkNonce(number, last), chunk);
    // Like the reference implementation, this yields a whole valid chunk before the error about missing or extra data.
    const wrongEnd = plain === undefined && chunk.length === CHUNK + TAG;
    const released = (wrongEnd ? await open(chunkNonce(number, !last), chunk) : plain) ?? [];
    room ??= new Uint8Array(chunk.length);
    const length = put(released, room, 0);
    free?.(released);
    if (length > 0) yield room.subarray(0, length);
    if (plain === undefined || (length === 0 && number > 0))
      throw new AgeError('payload', 'the encrypted data was changed or truncated');
    number++;
  }
}

/** The nonce of a chunk: a counter of 11 bytes, big-endian, and a flag for the last chunk. */
function chunkNonce(number: number, last: boolean): Uint8Array {
  const nonce = new Uint8Array(12);
  new DataView(nonce.buffer).setUint32(7, number);
  nonce[11] = last ? 1 : 0;
  return nonce;
}

/**
 * Reads the header and the nonce from the beginning of a file.
 * @throws AgeError (header) when the file ends before its payload, or the header is longer than `MAX_HEADER`
 */
export async function readHeader(pieces: AsyncIterator<Uint8Array>) {
  const start = new Uint8Array(MAX_HEADER + NONCE);
  let filled = 0;
  let macLine = -1;
  for (;;) {
    const { value: piece, done } = await pieces.next();
    if (done) throw new AgeError('header', 'not an age file, or its header is truncated');
    const part = piece.subarray(0, start.length - filled);
    start.set(part, filled);
    const searchFrom = Math.max(0, filled - 3);
    filled += part.length;
    const read = start.subarray(0, filled);
    if (macLine < 0) macLine = macLineIn(read, searchFrom);
    const end = macLine < 0 ? 0 : read.indexOf(LINE_END, macLine + 1) + 1;
    if (end > 0 && filled >= end + NONCE) {
      const rest = [read.subarray(end + NONCE), piece.subarray(part.length)];
      const nonce = read.subarray(end, end + NONCE);
      return { header: read.subarray(0, end), nonce, chunks: following(rest, pieces) };
    }
    if (filled === start.length)
      throw new AgeError('header', `not an age file, or its header is over ${MAX_HEADER} bytes`);
  }
}

const LINE_END = 0x0a;

/** Returns the index, at or after `from`, of the line end before `---`; -1 without one. */
function macLineIn(bytes: Uint8Array, from: number): number {
  let index = bytes.indexOf(LINE_END, from);
  while (index >= 0 && textOf(bytes.subarray(index + 1, index + 4)) !== '---')
    index = bytes.indexOf(LINE_END, index + 1);
  return index;
}

async function* following(rest: readonly Uint8Array[], pieces: AsyncIterator<Uint8Array>) {
  yield* rest;
  yield* { [Symbol.asyncIterator]: () => pieces };
}
