import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { inChunks } from '../../age/format/in-chunks';
import { limits } from '../../contract/api';
import {
  CHUNK,
  chunkCount,
  type FileHeader,
  openChunk,
  openHeader,
  sealChunk,
  sealHeader,
} from '../keys/chunks';
import type { FileLink } from '../keys/vault';
import { SharedRun } from '../queues';
import { invalid, malformed, notFound, tooLarge } from '../service-errors';
import * as store from '../store/file-rows';
import { findPush, type PushRow, type StoredPush } from '../store/push-rows';
import type { Sql } from '../store/sql';
import { LINK_TIME, type RuleOptions, type Visitor } from './access';

export interface OfferedFile extends FileHeader {
  /** The signed part of its URL, valid for `LINK_TIME`. */
  readonly link: string;
}

export interface ReadableFile extends FileHeader {
  /** Identifies the content, for ETag. */
  readonly tag: string;
  /**
   * The bytes from `first` up to, not including, `end`, read on demand.
   * @throws ServiceRefusal when the time of the push is over; Error when the file was changed or deleted
   */
  read(first: number, end: number): AsyncGenerator<Uint8Array>;
}

interface FileLocation extends FileLink {
  readonly push: StoredPush;
  readonly uploadId: number;
  readonly size: number;
}

export class Files {
  /** The number of downloads in this process, by push. */
  private readonly readers = new Map<number, number>();
  private readonly dropping = new SharedRun(() => this.dropEnded());
  private halted = false;

  constructor(private readonly options: RuleOptions) {}

  /**
   * Begins the upload of files for a push with that token. The caller must call `discard`, also after success.
   * @param hooks `check` is called during the upload, and throws when the files are not wanted any more
   */
  upload(urlToken: string, visitor: Visitor, hooks: UploadHooks = {}): Upload {
    return new Upload(this.options, urlToken, visitor, { ...hooks, drop: () => this.drop() });
  }

  /** Offers each file of an opened push with a link that is valid from `at` for `LINK_TIME`. */
  offer(
    { url_token: urlToken, views }: PushRow,
    { key, at }: { readonly key: Uint8Array; readonly at: number },
    rows: readonly store.FileRow[],
  ): OfferedFile[] {
    const until = at + LINK_TIME;
    return rows.map(({ position, header }) => ({
      ...openHeader(key, { urlToken, position }, header),
      link: this.options.vault.sealLink({ urlToken, position, until, key }, views),
    }));
  }

  /**
   * Finds the file that a link names.
   * @throws ServiceRefusal when the link has expired or is invalid, or the file has been deleted
   */
  async open(text: string): Promise<ReadableFile> {
    const { sql } = this.options.database;
    const link = this.options.vault.openLink(text);
    if (!link) throw notFound();
    const push = await findPush(sql, this.options.vault.keys.links.lookup(link.urlToken));
    const inTime = link.until > this.options.now();
    const file =
      push && inTime && (await store.findFile(sql, push.id, link.position, this.options.now()));
    if (!file) throw notFound();
    const header = openHeader(link.key, link, file.header);
    const stored = { ...link, push, uploadId: file.upload_id, size: header.size };
    return {
      ...header,
      tag: createHash('sha256').update(`${link.urlToken} ${link.position}`).digest('base64url'),
      read: (first, end) => this.read(stored, first, end),
    };
  }

  /**
   * Deletes expired files in pieces, so that other transactions can run in between; downloads in progress continue. The
   * next run tries again what failed. Calls during a run share the next run.
   */
  drop(): void {
    this.dropping.run().catch(this.options.report);
  }

  /** Resolves when the deletions that were requested so far are done or halted. */
  settled(): Promise<void> {
    return this.dropping.settled();
  }

  /** Stops deletions after the current piece; the next start continues them. */
  halt(): void {
    this.halted = true;
  }

  /** Abandons uploads that have received no data for `UPLOAD_SILENCE`, or all if no other process can finish one. */
  async abandonStale(isAlone = false): Promise<void> {
    const before = isAlone ? Number.MAX_SAFE_INTEGER : this.options.now() - UPLOAD_SILENCE;
    await store.abandonStale(this.options.database.sql, before);
  }

  private async dropEnded(): Promise<void> {
    const { database, report } = this.options;
    let dropped = 0;
    try {
      const ended = await store.listEnded(database.sql, this.options.now());
      for (const { id, push_id, readable } of ended) {
        if (this.halted) break;
        if (readable && push_id !== null && this.readers.has(push_id)) continue;
        await this.dropUpload(id).then(() => (dropped += 1), report);
      }
      if (dropped > 0) await database.scrub();
    } catch (error) {
      report(error);
    }
  }

  /** Pauses between pieces, as other processes cannot get the lock of the SQLite file without a pause. */
  private async dropUpload(id: number): Promise<void> {
    const { database } = this.options;
    for (let done = false; !done && !this.halted; ) {
      const began = performance.now();
      done = await database.transaction((sql) => store.dropPiece(sql, id), { frees: true });
      if (!done) await wait(performance.now() - began);
    }
  }

  private async *read(file: FileLocation, first: number, end: number): AsyncGenerator<Uint8Array> {
    const { push, uploadId, position, key, size } = file;
    const count = chunkCount(size);
    this.readers.set(push.id, (this.readers.get(push.id) ?? 0) + 1);
    try {
      for (let number = Math.floor(first / CHUNK); number < chunkCount(end); number += 1) {
        const { sql } = this.options.database;
        const sealed = await store.findChunk(sql, uploadId, position, number);
        // Downloads in progress end with the time of the push.
        if (push.expires_at <= this.options.now()) throw notFound();
        if (!sealed) throw new Error('a chunk is gone');
        const plain = openChunk(key, { ...file, number, last: number === count - 1 }, sealed);
        const start = number * CHUNK;
        yield plain.subarray(Math.max(0, first - start), end - start);
      }
    } finally {
      const others = (this.readers.get(push.id) ?? 1) - 1;
      if (others > 0) this.readers.set(push.id, others);
      else this.readers.delete(push.id);
    }
  }
}

/**
 * Chunks (64 KiB) written in one transaction, as each transaction waits for the disk once. Batches of 2 MiB would be
 * 10 % faster and take 50 MiB more memory with four simultaneous uploads.
 */
const BATCH_CHUNKS = 8;
const TOUCH_EVERY = 10_000;

interface UploadHooks {
  /** Returns whether the files were stored already, and are read only to compare them with those. */
  check?(): Promise<boolean>;
  discarded?(): void;
}

const stalled = () => malformed('The upload stalled for too long.');

/** Milliseconds without data after which an upload is abandoned. */
const UPLOAD_SILENCE = 2 * 60_000;

/**
 * The files of a push that is being created. They are encrypted as they arrive and stored in batches. Their key is only
 * in memory until the push is created, so the database alone cannot open an unfinished upload.
 */
export class Upload {
  readonly key = randomBytes(32);
  private id: number | undefined;
  private touchedAt = 0;
  private waiting: store.ChunkRow[] = [];
  private readonly files: store.FileRow[] = [];
  private ended = false;
  private received = 0;
  /** Milliseconds since 1970. */
  readonly begun: number;
  /** Name, type, size and CRC-32 of each file, to compare the upload with that of a repeated request. */
  readonly contents: (string | number)[] = [];

  /** @param hooks see `Files.upload`; `drop` starts the deletion of abandoned uploads */
  constructor(
    private readonly options: RuleOptions,
    readonly urlToken: string,
    private readonly visitor: Visitor,
    private readonly hooks: UploadHooks & { drop(): void },
  ) {
    this.begun = options.now();
  }

  get fileCount(): number {
    return this.files.length;
  }

  get client(): string | undefined {
    return this.visitor.client;
  }

  /** Returns the bytes that were received in a millisecond. */
  rate(now: number): number {
    return this.received / (now - this.begun);
  }

  /** @throws ServiceRefusal as soon as there are too many files, or the file is too large */
  async add({ name, type }: Omit<FileHeader, 'size'>, bytes: AsyncIterable<Uint8Array>) {
    const { urlToken, key } = this;
    const position = this.files.length;
    if (position === limits.filesPerPush)
      throw invalid({ files: [`Too many files (maximum is ${limits.filesPerPush}).`] });
    const { maxFileSize } = this.options;
    let number = 0;
    let size = 0;
    let check = 0;
    for await (const { chunk: plain, last } of inChunks(bytes, CHUNK)) {
      size += plain.length;
      this.received += plain.length;
      check = crc32(plain, check);
      if (size > maxFileSize) throw tooLarge(maxFileSize, 'A file is');
      const sealed = sealChunk(key, { urlToken, position, number, last }, plain);
      await this.write({ position, number, sealed });
      this.options.events.fileBytes('in', plain.length);
      number += 1;
    }
    const header = sealHeader(key, { urlToken, position }, { name, type, size });
    this.files.push({ position, header });
    this.contents.push(name, type, size, check);
  }

  /**
   * Marks the upload as active, so that no sweep abandons it while slow data arrive.
   * @throws ServiceRefusal when the files are not wanted any more
   */
  async touch(): Promise<void> {
    if (this.ended && !(await this.hooks.check?.())) throw stalled();
    const now = this.options.now();
    if (this.id === undefined || now - this.touchedAt < TOUCH_EVERY) return;
    this.touchedAt = now;
    await this.hooks.check?.();
    await store.touchUpload(this.options.database.sql, this.id, now);
  }

  /** Attaches the files to the push, in the transaction that creates it. */
  async attach(sql: Sql, pushId: number): Promise<void> {
    if (this.files.length === 0) return;
    const id = this.id ?? (await store.insertUpload(sql, this.options.now()));
    if (this.ended || !(await store.keepUpload(sql, id, pushId, this.files))) throw stalled();
    await store.insertChunks(sql, id, this.waiting);
  }

  /**
   * Stores no more data, and abandons the stored chunks unless they are attached to a push. If the database fails, the
   * sweep abandons them later.
   */
  async discard(): Promise<void> {
    const { sql } = this.options.database;
    this.ended = true;
    this.waiting = [];
    this.hooks.discarded?.();
    const { id } = this;
    if (id === undefined) return;
    this.id = undefined;
    if (await store.abandonUpload(sql, id).catch(() => false)) this.hooks.drop();
  }

  private async write(chunk: store.ChunkRow): Promise<void> {
    this.waiting.push(chunk);
    if (this.waiting.length < BATCH_CHUNKS) return;
    await this.options.space.check(this.visitor, BATCH_CHUNKS * CHUNK);
    const chunks = this.waiting;
    this.waiting = [];
    const now = this.options.now();
    const before = this.id;
    const id = await this.options.database.transaction(async (sql) => {
      if (this.ended) return undefined;
      const own = before ?? (await store.insertUpload(sql, now));
      await store.insertChunks(sql, own, chunks);
      return own;
    });
    if (before !== undefined) return;
    this.id = id;
    this.touchedAt = now;
  }
}
