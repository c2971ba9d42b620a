import { setImmediate } from 'node:timers/promises';

/** The escape of each byte value. Only ASCII is escaped, so that UTF-8 stays intact. */
export type Escapes = readonly (Uint8Array | undefined)[];

/** Texts of this many characters are escaped while they are sent, as an escaped text takes up to six times its size. */
export const LARGE = 4096;

const SLICE_BYTES = 16 * 1024;
const LONGEST_ESCAPE = 6;

export function escapesOf(characters: Readonly<Record<string, string>>): Escapes {
  const escapes = Array<Uint8Array | undefined>(256).fill(undefined);
  for (const [character, escaped] of Object.entries(characters))
    escapes[character.charCodeAt(0)] = Buffer.from(escaped);
  return escapes;
}

export class EscapedText {
  /** Bytes of the escaped text. */
  readonly length: number;
  private readonly bytes: Buffer;

  constructor(
    text: string,
    private readonly escapes: Escapes,
  ) {
    this.bytes = Buffer.from(text);
    this.length = this.bytes.length;
    for (const [byte, count] of countBytes(this.bytes).entries())
      this.length += count * ((escapes[byte]?.length ?? 1) - 1);
  }

  *slices(): Generator<Uint8Array> {
    for (let from = 0; from < this.bytes.length; ) {
      const slice = Buffer.allocUnsafe(SLICE_BYTES);
      const { read, written } = escapeInto(slice, this.bytes, from, this.escapes);
      from += read;
      yield slice.subarray(0, written);
    }
  }
}

/** Escapes bytes into the slice until it is full. Returns the numbers of bytes read and written. */
function escapeInto(slice: Uint8Array, bytes: Uint8Array, from: number, escapes: Escapes) {
  let written = 0;
  let index = from;
  for (; index < bytes.length && written + LONGEST_ESCAPE <= slice.length; index++) {
    const byte = bytes[index] as number;
    const escaped = escapes[byte];
    if (escaped === undefined) slice[written++] = byte;
    else for (let i = 0; i < escaped.length; i++) slice[written++] = escaped[i] as number;
  }
  return { read: index - from, written };
}

function countBytes(bytes: Uint8Array): Uint32Array {
  const counts = new Uint32Array(256);
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] as number;
    counts[byte] = (counts[byte] as number) + 1;
  }
  return counts;
}

/** A body in pieces: strings that are sent unchanged, and large texts that are escaped as they are sent. */
export type Pieces = readonly (string | EscapedText)[];

export function byteLengthOf(pieces: Pieces): number {
  const lengths = pieces.map((piece) =>
    typeof piece === 'string' ? Buffer.byteLength(piece) : piece.length,
  );
  return lengths.reduce((sum, length) => sum + length, 0);
}

/** Makes the bytes of the pieces on demand. Yields to other requests between slices, even for a fast reader. */
export function streamOf(pieces: Pieces): ReadableStream<Uint8Array> {
  const slices = slicesOf(pieces);
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        await setImmediate();
        const { value, done } = slices.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
    },
    { highWaterMark: 0 },
  );
}

function* slicesOf(pieces: Pieces): Generator<Uint8Array> {
  for (const piece of pieces) {
    if (typeof piece === 'string') yield Buffer.from(piece);
    else yield* piece.slices();
  }
}
