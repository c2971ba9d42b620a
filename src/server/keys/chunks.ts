import { seal, unseal } from './primitives';

/** Bytes of a file per sealed chunk. The last chunk may be shorter; an empty file has one empty chunk. */
export const CHUNK = 64 * 1024;

export interface FileHeader {
  readonly name: string;
  /** The media type without parameters. */
  readonly type: string;
  /** Bytes. */
  readonly size: number;
}

interface FilePlace {
  readonly urlToken: string;
  /** Index of the file in its push, from 0. */
  readonly position: number;
}

interface ChunkPlace extends FilePlace {
  /** Index of the chunk in its file, from 0. */
  readonly number: number;
  readonly last: boolean;
}

/** Binds a sealed chunk to its place, so that moved, exchanged and missing last chunks are detected. */
export function sealChunk(key: Uint8Array, place: ChunkPlace, plain: Uint8Array): Buffer {
  return seal(key, plain, chunkContext(place));
}

/** @throws Error when the chunk was changed or belongs to another place */
export function openChunk(key: Uint8Array, place: ChunkPlace, sealed: Uint8Array): Buffer {
  return unseal(key, sealed, chunkContext(place));
}

export function sealHeader(key: Uint8Array, place: FilePlace, header: FileHeader): Buffer {
  const { name, type, size } = header;
  return seal(key, JSON.stringify([name, type, size]), contextOf(place, 'header'));
}

/** @throws Error when the header was changed or belongs to another file */
export function openHeader(key: Uint8Array, place: FilePlace, sealed: Uint8Array): FileHeader {
  const [name, type, size] = JSON.parse(unseal(key, sealed, contextOf(place, 'header')).toString());
  return { name, type, size };
}

export function chunkCount(size: number): number {
  return Math.max(1, Math.ceil(size / CHUNK));
}

function chunkContext({ number, last, ...place }: ChunkPlace): string {
  return `${contextOf(place, 'chunk')} ${number}${last ? ' last' : ''}`;
}

function contextOf({ urlToken, position }: FilePlace, what: 'header' | 'chunk'): string {
  return `pwpush push ${urlToken} file ${position} ${what}`;
}
