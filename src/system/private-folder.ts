import { chmodSync, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { failedError } from '../errors';

/**
 * Creates a folder and its missing parents, 0700. Not by the option `recursive`, which does not return below /proc.
 * @throws CliError (failed)
 */
export function makeFolder(path: string, hint?: string): void {
  try {
    make(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw failedError(`cannot create the folder "${path}" (${code})`, {
      hint,
      cause: error,
    });
  }
}

/** The missing folders of a path, innermost first. */
export function foldersMissing(path: string): string[] {
  const missing: string[] = [];
  for (let at = resolve(path); !exists(at) && at !== dirname(at); at = dirname(at))
    missing.push(at);
  return missing;
}

function make(path: string): void {
  try {
    makeOne(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && statSync(path).isDirectory()) return;
    const parent = dirname(path);
    if (code !== 'ENOENT' || parent === path || exists(parent)) throw error;
    make(parent);
    makeOne(path);
  }
}

function makeOne(path: string): void {
  mkdirSync(path, { mode: 0o700 });
  // Whatever the umask.
  chmodSync(path, 0o700);
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}
