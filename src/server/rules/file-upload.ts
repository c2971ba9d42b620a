import { randomBytes } from 'node:crypto';
import { size as inUnits, limits } from '../../contract';
import { type FileHeader, inChunks, sealChunk, sealHeader } from '../keys/chunks';
import type { PushEvents } from '../push-events';
import { invalid, Refusal } from '../refusal';
import * as store from '../store/file-rows';
import type { Database, Sql } from '../store/sql';
import type { Space } from './space';

/**
 * Chunks that are written together, 512 KiB: each transaction waits for the disk once. With 2 MiB it is a tenth
 * faster, and takes 50 MiB more with four uploads at once.
 */
const BATCH = 8;
const TOUCH_EVERY = 10_000;

/** Milliseconds after which an upload that nothing was heard of is given up. */
export const UPLOAD_SILENCE = 2 * 60_000;

export interface UploadOptions {
  readonly database: Database;
  readonly urlToken: string;
  /** Bytes a file may have. */
  readonly fileBytes: number;
  /** Milliseconds. */
  readonly now: () => number;
  readonly events: PushEvents;
  readonly space: Space;
  /** Has what has ended deleted. */
  readonly drop: () => void;
}

/**
 * The files of a push that is about to be. They are sealed as they come and written beside the pushes, a batch a
 * transaction, with a key that is in memory only: until the push is created they are nobody's, and unreadable.
 */
export class Upload {
  readonly urlToken: string;
  /** The data key of the push. */
  readonly key = randomBytes(32);
  private id: number | undefined;
  private touchedAt = 0;
  private waiting: store.ChunkRow[] = [];
  private readonly files: store.FileRow[] = [];

  constructor(private readonly options: UploadOptions) {
    this.urlToken = options.urlToken;
  }

  get fileCount(): number {
    return this.files.length;
  }

  /** Takes one file in. Throws a `Refusal` as soon as it is one too many, or too large. */
  async add({ name, type }: Omit<FileHeader, 'size'>, bytes: AsyncIterable<Uint8Array>) {
    const { urlToken, key } = this;
    const position = this.files.length;
    if (position === limits.filesPerPush) {
      throw invalid({ files: [`Too many files (maximum is ${limits.filesPerPush}).`] });
    }
    let number = 0;
    let size = 0;
    for await (const { plain, last } of inChunks(bytes)) {
      size += plain.length;
      if (size > this.options.fileBytes) throw this.tooLarge();
      const sealed = sealChunk(key, { urlToken, position, number, last }, plain);
      await this.write({ position, number, sealed });
      this.options.events.fileBytes('in', plain.length);
      number += 1;
    }
    const header = sealHeader(key, { urlToken, position }, { name, type, size });
    this.files.push({ position, header });
  }

  /** Says that the upload goes on, however slowly, so that no sweep takes it for dead. */
  async touch(): Promise<void> {
    const now = this.options.now();
    if (this.id === undefined || now - this.touchedAt < TOUCH_EVERY) return;
    this.touchedAt = now;
    await store.touchUpload(this.options.database.sql, this.id, now);
  }

  /** Makes the files part of that push, in the transaction that creates it. */
  async keep(sql: Sql, pushId: number): Promise<void> {
    if (this.files.length === 0) return;
    const id = this.id ?? (await store.insertUpload(sql, this.options.now()));
    if (!(await store.keepUpload(sql, id, pushId, this.files))) {
      throw new Refusal('malformed', 'The upload stood still for too long.');
    }
    await store.insertChunks(sql, id, this.waiting);
  }

  /** Takes back what was written, unless a push has it now. */
  async discard(): Promise<void> {
    const { database, drop } = this.options;
    this.waiting = [];
    if (this.id !== undefined && (await store.abandonUpload(database.sql, this.id))) drop();
  }

  private async write(chunk: store.ChunkRow): Promise<void> {
    this.waiting.push(chunk);
    if (this.waiting.length < BATCH) return;
    await this.options.space.check();
    const chunks = this.waiting;
    this.waiting = [];
    const now = this.options.now();
    const begins = this.id === undefined;
    this.id = await this.options.database.transaction(async (sql) => {
      const id = this.id ?? (await store.insertUpload(sql, now));
      await store.insertChunks(sql, id, chunks);
      return id;
    });
    if (begins) this.touchedAt = now;
  }

  private tooLarge(): Refusal {
    return new Refusal('too_large', `A file is larger than ${inUnits(this.options.fileBytes)}.`);
  }
}
