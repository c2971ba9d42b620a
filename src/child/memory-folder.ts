import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '../context';

/** A temporary folder, 0700, for the files of a child. */
export interface MemoryFolder {
  readonly path: string;
  /** Whether it is in memory; otherwise it is on a disk. */
  readonly inMemory: boolean;
  remove(): void;
}

/** `f_type` of a tmpfs (linux/magic.h). */
const TMPFS = 0x01021994;

/** Makes it in memory if there is a tmpfs, as on Linux, else where temporary files are. */
export async function memoryFolder(env: Environment): Promise<MemoryFolder> {
  for (const parent of [env.XDG_RUNTIME_DIR, '/dev/shm']) {
    const made = parent?.startsWith('/') ? await inTmpfs(parent) : undefined;
    if (made !== undefined) return folder(made, true);
  }
  return folder(mkdtempSync(join(tmpdir(), PREFIX)), false);
}

const PREFIX = 'pwpush-run-';

async function inTmpfs(parent: string): Promise<string | undefined> {
  try {
    const { type } = await statfs(parent);
    return type === TMPFS ? mkdtempSync(join(parent, PREFIX)) : undefined;
  } catch {
    return undefined;
  }
}

function folder(path: string, inMemory: boolean): MemoryFolder {
  // The umask may have removed even the owner's permissions.
  chmodSync(path, 0o700);
  return { path, inMemory, remove: () => rmSync(path, { recursive: true, force: true }) };
}
