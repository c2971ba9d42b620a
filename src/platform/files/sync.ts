import { closeSync, fstatSync, fsyncSync, openSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { means } from './file-error';

function throwUnlessRefused(error: unknown): void {
  if (!means(error, 'unsupported')) throw error;
}

/**
 * Syncs an open file to the disk, if the file system can. Throws an error of the file system if written data may be
 * lost.
 */
export function syncOpen(file: number): void {
  try {
    fsyncSync(file);
  } catch (error) {
    throwUnlessRefused(error);
  }
}

/** Syncs without blocking the process, as the sync of a large file takes long. */
export function syncHandle(file: FileHandle): Promise<void> {
  return file.sync().catch(throwUnlessRefused);
}

/** Syncs a file, and returns its size in bytes. Throws an error of the file system. */
export function syncFile(path: string): number {
  const file = openSync(path, 'r+');
  try {
    syncOpen(file);
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
