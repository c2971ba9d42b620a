import { chmodSync, mkdtempSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Conf from 'conf';
import type { ProfileStore, StoredProfiles } from '../context';
import { makeFolder } from '../system/private-folder';
import { type LockTools, withLock } from './lock';
import { configName, readProfiles } from './read';

/**
 * The store over `conf`, which is loaded to write only (it brings ajv, 32 ms); `read.ts` reads.
 * The file is replaced atomically, 0600 in a folder of 0700.
 */
export function confStore(folder: string, tools: LockTools): ProfileStore {
  return {
    update: async (change) => {
      makeFolder(folder, 'point PWPUSH_CONFIG_DIR at a folder of yours');
      return withLock(join(folder, `${configName}.lock`), tools, async () => {
        const next = change(readProfiles(folder));
        write(folder, next);
        return next;
      });
    },
  };
}

/** Conf writes into a new folder of ours, whose name nobody can guess; from there the file takes the place of the old one. */
function write(folder: string, next: StoredProfiles): void {
  const path = targetOf(join(folder, configName));
  const room = mkdtempSync(join(dirname(path), '.config-'));
  try {
    // A umask can take from ourselves what we need.
    chmodSync(room, 0o700);
    const conf = new Conf<Record<string, unknown>>({
      cwd: room,
      configName: 'config',
      configFileMode: 0o600,
      accessPropertiesByDotNotation: false,
    });
    conf.store = {
      ...(next.current === undefined ? {} : { current: next.current }),
      profiles: next.profiles,
    };
    chmodSync(conf.path, 0o600);
    renameSync(conf.path, path);
  } finally {
    rmSync(room, { recursive: true, force: true });
  }
}

/** Where a link leads that stands in the file's place, as those who keep such files elsewhere have it. */
function targetOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
