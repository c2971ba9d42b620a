import { seal, unseal } from './aead';

/** Bytes of a file that are sealed together; the last chunk of a file may have fewer, an empty file has an empty one. */
export const CHUNK = 64 * 1024;

/** What is known of a file beside its bytes. */
export interface FileHeader {
  readonly name: string;
  /** Media type without parameters. */
  readonly type: string;
  /** Bytes. */
  readonly size: number;
}

export interface FilePlace {
  readonly urlToken: string;
  /** Of the file in its push, from 0. */
  readonly position: number;
}

export interface ChunkPlace extends FilePlace {
  /** Of the chunk in its file, from 0. */
  readonly number: number;
  readonly last: boolean;
}

/** Seals a chunk to its place: one that is moved, exchanged, or left out at the end does not open as another. */
export function sealChunk(key: Uint8Array, place: ChunkPlace, plain: Uint8Array): Buffer {
  return seal(key, plain, chunkContext(place));
}

export function openChunk(key: Uint8Array, place: ChunkPlace, sealed: Uint8Array): Buffer {
  return unseal(key, sealed, chunkContext(place));
}

export function sealHeader(key: Uint8Array, place: FilePlace, header: FileHeader): Buffer {
  const { name, type, size } = header;
  return seal(key, JSON.stringify([name, type, size]), headerContext(place));
}

export function openHeader(key: Uint8Array, place: FilePlace, sealed: Uint8Array): FileHeader {
  const [name, type, size] = JSON.parse(unseal(key, sealed, headerContext(place)).toString());
  return { name, type, size };
}

/** How many chunks a file of so many bytes has. */
export function chunkCount(size: number): number {
  return Math.max(1, Math.ceil(size / CHUNK));
}

/**
 * The bytes in chunks, each with whether it is the last. They share one buffer: a chunk is gone when the next
 * one is asked for.
 */
export async function* inChunks(bytes: AsyncIterable<Uint8Array>) {
  const buffer = Buffer.allocUnsafe(CHUNK);
  let filled = 0;
  for await (const piece of bytes) {
    for (let from = 0; from < piece.length; ) {
      if (filled === CHUNK) {
        yield { plain: buffer, last: false };
        filled = 0;
      }
      const part = piece.subarray(from, from + CHUNK - filled);
      buffer.set(part, filled);
      filled += part.length;
      from += part.length;
    }
  }
  yield { plain: buffer.subarray(0, filled), last: true };
}

function chunkContext({ number, last, ...place }: ChunkPlace): string {
  return `${fileContext(place)} chunk ${number}${last ? ' last' : ''}`;
}

function headerContext(place: FilePlace): string {
  return `${fileContext(place)} header`;
}

function fileContext({ urlToken, position }: FilePlace): string {
  return `pwpush push ${urlToken} file ${position}`;
}
