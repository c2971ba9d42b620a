import { randomBytes } from 'node:crypto';
import { size as inUnits } from '../../byte-size';
import { limits } from '../../contract';
import { type FileHeader, inChunks, sealChunk, sealHeader } from '../keys/chunks';
import type { PushEvents } from '../push-events';
import { invalid, Refusal } from '../refusal';
import * as store from '../store/file-rows';
import type { Database, Sql } from '../store/sql';
import type { Space } from './space';

/**
 * Chunks written in one transaction, 512 KiB: each transaction waits for the disk once. 2 MiB would be 10 % faster and
 * take 50 MiB more with four simultaneous uploads.
 */
const BATCH_CHUNKS = 8;
const TOUCH_EVERY = 10_000;

/** Milliseconds without data after which an upload is abandoned. */
export const UPLOAD_SILENCE = 2 * 60_000;

export interface UploadOptions {
  readonly database: Database;
  readonly urlToken: string;
  /** Maximum size of a file in bytes. */
  readonly fileBytes: number;
  /** Milliseconds. */
  readonly now: () => number;
  readonly events: PushEvents;
  readonly space: Space;
  /** Starts the deletion of abandoned uploads. */
  readonly drop: () => void;
}

/**
 * The files of a push that is being created. They are encrypted as they arrive and stored in batches, with a key that
 * exists only in memory: until the push is created, they belong to nobody and cannot be read.
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

  /**
   * Stores one file.
   * @throws Refusal as soon as there are too many files, or the file is too large
   */
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

  /** Marks the upload as active, so that no sweep abandons it, however slow it is. */
  async touch(): Promise<void> {
    const now = this.options.now();
    if (this.id === undefined || now - this.touchedAt < TOUCH_EVERY) return;
    this.touchedAt = now;
    await store.touchUpload(this.options.database.sql, this.id, now);
  }

  /** Attaches the files to the push, in the transaction that creates it. */
  async attach(sql: Sql, pushId: number): Promise<void> {
    if (this.files.length === 0) return;
    const id = this.id ?? (await store.insertUpload(sql, this.options.now()));
    if (!(await store.keepUpload(sql, id, pushId, this.files))) {
      throw new Refusal('malformed', 'The upload stood still for too long.');
    }
    await store.insertChunks(sql, id, this.waiting);
  }

  /** Abandons what was stored, unless it has been attached to a push. */
  async discard(): Promise<void> {
    const { database, drop } = this.options;
    this.waiting = [];
    if (this.id !== undefined && (await store.abandonUpload(database.sql, this.id))) drop();
  }

  private async write(chunk: store.ChunkRow): Promise<void> {
    this.waiting.push(chunk);
    if (this.waiting.length < BATCH_CHUNKS) return;
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
