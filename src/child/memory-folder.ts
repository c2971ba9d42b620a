import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '../context';

/** A folder of our own, 0700, for the time that a child runs. */
export interface PrivateFolder {
  readonly path: string;
  /** It is kept in memory, and never on a disk. */
  readonly inMemory: boolean;
  remove(): void;
}

/** What `statfs` says of a tmpfs (linux/magic.h). */
const TMPFS = 0x01021994;

/** Makes it in memory where that can be, which is Linux; else where temporary files are. */
export async function privateFolder(env: Environment): Promise<PrivateFolder> {
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

function folder(path: string, inMemory: boolean): PrivateFolder {
  // A umask can take from ourselves what we need.
  chmodSync(path, 0o700);
  return { path, inMemory, remove: () => rmSync(path, { recursive: true, force: true }) };
}
