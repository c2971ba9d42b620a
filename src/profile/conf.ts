import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import Conf from 'conf';
import { makeFolder } from './folder';
import { withLock } from './lock';
import type { StoredProfiles } from './profile';
import { configName, readProfiles } from './read';

export interface ProfileStore {
  /** Changes the file under a lock, so that programs that write at once all survive; returns the new state. */
  update(change: (stored: StoredProfiles) => StoredProfiles): Promise<StoredProfiles>;
}

interface Clock {
  readonly now: () => Date;
  readonly sleep: (milliseconds: number) => Promise<void>;
}

/**
 * The store over `conf`, which is loaded to write only (it brings ajv, 32 ms); `read.ts` reads.
 * The file is replaced atomically, 0600 in a folder of 0700.
 */
export function confStore(folder: string, clock: Clock): ProfileStore {
  return {
    update: async (change) => {
      makeFolder(folder, 'point PWPUSH_CONFIG_DIR at a folder of yours');
      return withLock(join(folder, `${configName}.lock`), clock, async () => {
        const next = change(readProfiles(folder));
        write(folder, next);
        return next;
      });
    },
  };
}

function write(folder: string, next: StoredProfiles): void {
  const conf = new Conf<Record<string, unknown>>({
    cwd: folder,
    configName: 'config',
    configFileMode: 0o600,
    accessPropertiesByDotNotation: false,
  });
  conf.store = {
    ...(next.current === undefined ? {} : { current: next.current }),
    profiles: next.profiles,
  };
  // A file that was there before keeps its mode otherwise, and an old umask may have been kinder.
  chmodSync(conf.path, 0o600);
}
