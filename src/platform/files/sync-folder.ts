import { closeSync, fsyncSync, openSync } from 'node:fs';

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
