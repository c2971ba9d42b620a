import { closeSync, fstatSync, fsyncSync, linkSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';

/** Makes a file, 0600, has `fill` fill its descriptor, and waits for the disk. Throws EEXIST when there is one. */
export function makeFile(path: string, fill: (file: number) => void = () => {}): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    fill(file);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Waits until what was written to a file is on the disk; answers its bytes. */
export function syncFile(path: string): number {
  const file = openSync(path, 'r+');
  try {
    fsyncSync(file);
    return fstatSync(file).size;
  } finally {
    closeSync(file);
  }
}

/** Gives a file its name, whole or not at all. Throws EEXIST when that is taken, unless it may be replaced. */
export function nameFile(draft: string, path: string, replace: boolean): void {
  if (replace) renameSync(draft, path);
  else {
    linkSync(draft, path);
    rmSync(draft);
  }
  syncFolder(dirname(path));
}

function syncFolder(path: string): void {
  try {
    const folder = openSync(path, 'r');
    fsyncSync(folder);
    closeSync(folder);
  } catch {
    // Windows has no such thing.
  }
}
