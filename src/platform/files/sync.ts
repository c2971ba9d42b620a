import { closeSync, fstatSync, fsyncSync, openSync } from 'node:fs';

/** Syncs a file to the disk; returns its size in bytes. Throws an error of the file system. */
export function syncFile(path: string): number {
  const file = openSync(path, 'r+');
  try {
    fsyncSync(file);
    return fstatSync(file).size;
  } finally {
    closeSync(file);
  }
}

/** Syncs the names in a folder to the disk: a new file or folder may be lost with the power until then. */
export function syncFolder(path: string): void {
  try {
    const folder = openSync(path, 'r');
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
  } catch {
    // Windows cannot open folders, and some file systems cannot sync them.
  }
}
