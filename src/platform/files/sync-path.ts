import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Syncs a file, or the names in a folder, to the disk: what is new there may be lost with the power until then. */
export function syncPath(path: string): void {
  try {
    const file = openSync(path, 'r');
    try {
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  } catch {
    // Windows cannot open folders, and some file systems cannot sync them.
  }
}
