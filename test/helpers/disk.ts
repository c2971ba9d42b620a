import { execFileSync } from 'node:child_process';
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  statfsSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { allOf, needs, needsPrograms } from './needs';

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

/** A disk that fails at some time. */
export interface FailingDisk {
  readonly folder: string;
  /** Has the system make it read-only, as after an error, whatever is open on it. It stays so for good. */
  fail(): void;
  /** Puts another disk in its place, with what had been written to it. */
  replace(): void;
  remove(): void;
}

export const needsFailingDisk = allOf(
  needsDisk,
  needs('loop devices', existsSync('/dev/loop-control')),
  needsPrograms('mkfs.ext4'),
);

/** An ext4 of so many MiB. A tmpfs cannot be made read-only while a file is open on it. */
export function mountFailingDisk(size: number): FailingDisk {
  const disk = mountDisk(2 * size + 1);
  const folder = join(disk.folder, 'mounted');
  const [image, copy] = ['image', 'copy'].map((name) => join(disk.folder, name)) as [
    string,
    string,
  ];
  const run = (program: string, ...words: string[]) =>
    execFileSync(program, words, { stdio: 'ignore' });
  const mount = (file: string) => run('mount', '-o', 'loop', file, folder);
  mkdirSync(folder);
  run('mkfs.ext4', '-q', image, `${size}m`);
  mount(image);
  return {
    folder,
    fail: () => run('mount', '-o', 'remount,abort', folder),
    replace() {
      // Lazily, as above: of the same file, the same read-only file system would be mounted again.
      run('umount', '-l', folder);
      copyFileSync(image, copy);
      mount(copy);
    },
    remove() {
      run('umount', '-l', folder);
      disk.remove();
    },
  };
}
