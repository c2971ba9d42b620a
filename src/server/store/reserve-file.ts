import { randomBytes } from 'node:crypto';
import { rmSync, statfsSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFile } from '../../system/atomic-file';

/** Bytes: more than the write-ahead log needs to end a push with the largest payload, several times over. */
const BYTES = 8 * 1024 * 1024;

/** Bytes that the disk of that folder still has for this user. */
export function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/** A file that only takes up space, to be given up when a push has to end on a full disk. */
export class Ballast {
  constructor(private readonly path: string) {}

  /** Makes the file where it is missing and the disk has room for two. */
  make(): void {
    if (statSync(this.path, { throwIfNoEntry: false })?.size === BYTES) return;
    this.giveUp();
    if (freeBytes(dirname(this.path)) < 2 * BYTES) return;
    try {
      // Random, as a file system that compresses would set nothing aside for zeros.
      makeFile(this.path, (file) => writeSync(file, randomBytes(BYTES)));
    } catch {
      this.giveUp();
    }
  }

  giveUp(): void {
    rmSync(this.path, { force: true });
  }
}
