import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { needs } from './needs';

/** A disk of its own, small enough to be filled. */
export interface Disk {
  readonly folder: string;
  /** Writes a file until the disk has so many bytes left. */
  fill(left?: number): void;
  /** Removes that file. */
  clear(): void;
  remove(): void;
}

export const needsDisk = needs('the right to mount', canMount());

function canMount(): boolean {
  try {
    mountDisk(1).remove();
    return true;
  } catch {
    return false;
  }
}

/** A tmpfs of so many MiB. */
export function mountDisk(size: number): Disk {
  const folder = mkdtempSync(join(tmpdir(), 'pwpush-disk-'));
  const filler = join(folder, 'filler');
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}m`, 'tmpfs', folder], {
      stdio: 'ignore',
    });
  } catch (error) {
    rmSync(folder, { recursive: true });
    throw error;
  }
  return {
    folder,
    fill(left = 0) {
      const { bavail, bsize } = statfsSync(folder);
      const file = openSync(filler, 'a');
      try {
        for (let n = Math.floor((bavail * bsize - left) / 4096); n > 0; n -= 1) {
          writeSync(file, Buffer.alloc(4096));
        }
      } finally {
        closeSync(file);
      }
    },
    clear: () => rmSync(filler, { force: true }),
    remove() {
      // Lazily: libsql closes its files when its statements are collected.
      execFileSync('umount', ['-l', folder]);
      rmSync(folder, { recursive: true });
    },
  };
}
