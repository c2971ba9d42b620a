import { randomBytes } from 'node:crypto';
import { AgeError } from './age-error';
import { chacha, derive, TAG } from './chacha';
import { MAX_HEADER } from './header';

// age.md (https://c2sp.org/age), "Payload".

/** Bytes of plaintext per chunk. */
const CHUNK = 64 * 1024;
const NONCE = 16;

/** Size of the payload for plaintext of that size, in bytes. */
export function payloadSize(plaintext: number): number {
  return NONCE + plaintext + Math.max(1, Math.ceil(plaintext / CHUNK)) * TAG;
}

/** Encrypts a payload with a new nonce. Every piece that it yields is a new buffer. */
export async function* encryptPayload(
  fileKey: Uint8Array,
  plaintext: AsyncIterable<Uint8Array>,
): AsyncGenerator<Buffer, void, undefined> {
  const nonce = randomBytes(NONCE);
  const { seal } = await chacha(derive(fileKey, nonce, 'payload'));
  yield nonce;
  let number = 0;
  for await (const { chunk, last } of inChunks(plaintext, CHUNK))
    yield await seal(chunkNonce(number++, last), chunk);
}

/**
 * Decrypts a payload that follows its nonce. It yields a chunk only after verifying it; the payload is complete when
 * the generator ends.
 * @throws AgeError (payload) when it was changed, truncated or extended
 */
export async function* decryptPayload(
  fileKey: Uint8Array,
  nonce: Uint8Array,
  sealed: AsyncIterable<Uint8Array>,
): AsyncGenerator<Buffer<ArrayBuffer>, void, undefined> {
  const { open } = await chacha(derive(fileKey, nonce, 'payload'));
  let number = 0;
  for await (const { chunk, last } of inChunks(sealed, CHUNK + TAG)) {
    const plain = await open(chunkNonce(number, last), chunk);
    // A whole chunk after which data is missing or follows: the reference implementation releases it, too.
    const wrongEnd = plain === undefined && chunk.length === CHUNK + TAG;
    const released = wrongEnd ? await open(chunkNonce(number, !last), chunk) : plain;
    if (released !== undefined && released.length > 0) yield released;
    if (plain === undefined || (plain.length === 0 && number > 0))
      throw new AgeError('payload', 'the encrypted data was changed or truncated');
    number++;
  }
}

/** A counter of 11 bytes, big-endian, and a flag for the last chunk. */
function chunkNonce(number: number, last: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUIntBE(number, 5, 6);
  nonce[11] = last ? 1 : 0;
  return nonce;
}

/** Splits bytes into chunks; only the last one may be shorter, or empty. Use each before requesting the next. */
async function* inChunks(pieces: AsyncIterable<Uint8Array>, size: number) {
  const buffer = Buffer.allocUnsafe(size);
  let filled = 0;
  for await (const piece of pieces) {
    for (let from = 0; from < piece.length; ) {
      if (filled === size) {
        yield { chunk: buffer, last: false };
        filled = 0;
      }
      // More of the piece follows, so this chunk is not the last one, and there is no need to copy it.
      if (filled === 0 && piece.length - from > size) {
        yield { chunk: piece.subarray(from, from + size), last: false };
        from += size;
        continue;
      }
      const part = piece.subarray(from, from + size - filled);
      buffer.set(part, filled);
      filled += part.length;
      from += part.length;
    }
  }
  yield { chunk: buffer.subarray(0, filled), last: true };
}

/** A file whose header was read. */
export interface Opened {
  readonly header: Buffer;
  readonly nonce: Buffer;
  readonly chunks: AsyncIterable<Uint8Array>;
}

/**
 * Reads the header and the nonce from the beginning of a file.
 * @throws AgeError (header) when the file ends before that, or the header is over its limit
 */
export async function readHeader(pieces: AsyncIterator<Uint8Array>): Promise<Opened> {
  const start = Buffer.allocUnsafe(MAX_HEADER + NONCE);
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
    if (macLine < 0) macLine = read.indexOf('\n---', searchFrom);
    const end = macLine < 0 ? 0 : read.indexOf('\n', macLine + 1) + 1;
    if (end > 0 && filled >= end + NONCE) {
      const rest = [read.subarray(end + NONCE), piece.subarray(part.length)];
      const nonce = read.subarray(end, end + NONCE);
      return { header: read.subarray(0, end), nonce, chunks: following(rest, pieces) };
    }
    if (filled === start.length)
      throw new AgeError('header', `not an age file, or its header is over ${MAX_HEADER} bytes`);
  }
}

async function* following(first: readonly Uint8Array[], pieces: AsyncIterator<Uint8Array>) {
  yield* first;
  yield* { [Symbol.asyncIterator]: () => pieces };
}
