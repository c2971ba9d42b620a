import { execFileSync } from 'node:child_process';
import { appendFileSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { allOf, needs, needsPrograms, needsRight } from './needs';

export type Disk = ReturnType<typeof mountDisk>;

export const needsDisk = needsRight('the right to mount', canMount());

function canMount(): boolean {
  try {
    mountDisk(1).remove();
    return true;
  } catch {
    return false;
  }
}

/** A disk of its own, small enough to be filled: a tmpfs of so many MiB. */
export function mountDisk(size: number) {
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
      const pages = Math.max(0, Math.floor((bavail * bsize - left) / 4096));
      appendFileSync(filler, Buffer.alloc(pages * 4096));
    },
    clear: () => rmSync(filler, { force: true }),
    remove() {
      // Lazily: libsql closes its files when its statements are collected.
      execFileSync('umount', ['-l', folder]);
      rmSync(folder, { recursive: true });
    },
  };
}

export const needsFailingDisk = allOf(
  needsDisk,
  needs('loop devices', existsSync('/dev/loop-control')),
  needsPrograms('mkfs.ext4'),
);

/** A disk that fails at some time: an ext4 of so many MiB. A tmpfs cannot be made read-only while a file is open on it. */
export function mountFailingDisk(size: number) {
  const disk = mountDisk(2 * size + 1);
  const folder = join(disk.folder, 'mounted');
  const [image, copy] = [join(disk.folder, 'image'), join(disk.folder, 'copy')];
  const run = (program: string, ...words: string[]) => execFileSync(program, words, { stdio: 'ignore' });
  const mount = (file: string) => run('mount', '-o', 'loop', file, folder);
  mkdirSync(folder);
  run('mkfs.ext4', '-q', image, `${size}m`);
  mount(image);
  return {
    folder,
    /** Has the system make it read-only, as after an error, whatever is open on it. It stays so for good. */
    fail: () => run('mount', '-o', 'remount,abort', folder),
    /** Puts another disk in its place, with what had been written to it. */
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
