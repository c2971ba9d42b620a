import { chmodSync, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { CliError } from '../errors';

/**
 * Makes a folder of ours, 0700, with those above it. Not by `recursive`, which never ends below /proc.
 * @throws CliError (failed) that names the folder and why
 */
export function makeFolder(path: string, hint?: string): void {
  try {
    make(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CliError('failed', `the folder ${path} cannot be made (${code})`, {
      hint,
      cause: error,
    });
  }
}

/** The folders of a path that are not there, innermost first. */
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
  // A umask can take from ourselves what we need.
  chmodSync(path, 0o700);
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}
