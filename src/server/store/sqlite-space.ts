import { randomBytes } from 'node:crypto';
import { rmSync, statfsSync, statSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFile } from '../../platform/files/atomic-file';
import { pragma, type SqliteConnection } from './sqlite-driver';

/** Bytes of a page. */
export const PAGE = 4096;
/** SQLite's maximum of `max_page_count`. */
const MAX_PAGES = 2 ** 32 - 2;

export interface Storage {
  /** Bytes that the database may still take. */
  free(): number;
  /** Bytes of the database. */
  size(): number;
  /** Whether a view of a large text could not be written down, although a small write may find room. */
  isFull(): boolean;
  /** Reserves space for expiring pushes on a full disk, if there is enough. */
  reserve(): void;
  /** Frees the reserved space, so that pushes can expire. */
  release(): void;
}

/** Reserved bytes: several times what the write-ahead log needs to expire a push with the largest payload. */
const RESERVE_BYTES = 8 * 1024 * 1024;

/** Bytes that the view of a text of 1 MiB writes to the log, and some more. */
const LARGE_VIEW = 1.25 * 1024 * 1024;

/** The disk of a folder. A file reserves space, and is deleted when a push has to expire on a full disk. */
export class Disk implements Storage {
  private readonly path: string;

  /** @param database the path of its file */
  constructor(private readonly database: string) {
    this.path = join(dirname(database), 'pwpush.reserve');
  }

  free(): number {
    const { bavail, bsize } = statfsSync(dirname(this.database));
    return bavail * bsize;
  }

  size(): number {
    return statSync(this.database).size;
  }

  isFull(): boolean {
    return this.free() < LARGE_VIEW;
  }

  /** Creates the file when it is missing and the disk has twice its size free. */
  reserve(): void {
    if (statSync(this.path, { throwIfNoEntry: false })?.size === RESERVE_BYTES) return;
    this.release();
    if (this.free() < 2 * RESERVE_BYTES) return;
    try {
      // Random bytes, because a file system that compresses reserves nothing for zeros.
      makeFile(this.path, (file) => writeSync(file, randomBytes(RESERVE_BYTES)));
    } catch {
      this.release();
    }
  }

  release(): void {
    rmSync(this.path, { force: true });
  }
}

/** Limits the pages of a database in memory. SQLite uses freed pages again, but does not give them back. */
export class Memory implements Storage {
  constructor(
    private readonly connection: SqliteConnection,
    private readonly most: number,
  ) {
    this.reserve();
  }

  free(): number {
    return this.most - this.size();
  }

  size(): number {
    return Number(pragma(this.connection, 'page_count')) * PAGE;
  }

  /** Rows need no more pages where others were freed: writing one tells enough. */
  isFull = () => false;

  reserve(): void {
    this.limit(this.most);
  }

  release(): void {
    this.limit(this.most + RESERVE_BYTES);
  }

  private limit(bytes: number): void {
    pragma(this.connection, `max_page_count = ${Math.min(Math.floor(bytes / PAGE), MAX_PAGES)}`);
  }
}
