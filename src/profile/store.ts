import { chmodSync, mkdtempSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Conf from 'conf';
import type { ProfileStore, StoredProfiles } from '../platform/context';
import type { User } from '../platform/files/owner';
import { checkFolder, makeFolder } from '../platform/private-folder';
import { configName, readProfiles } from './config-file';
import { type LockTools, withLock } from './lock';

/** A store that writes with conf. Replaces the file atomically, 0600 in a folder of 0700. */
export function confStore(
  folder: string,
  tools: LockTools & { readonly user: User },
): ProfileStore {
  const { user } = tools;
  return {
    update: async (change) => {
      makeFolder(folder, 'set PWPUSH_CONFIG_DIR to a folder that you can write to');
      checkFolder(folder, {
        user,
        what: 'the folder',
        instead: 'set PWPUSH_CONFIG_DIR to another folder',
      });
      return withLock(join(folder, `${configName}.lock`), tools, async () => {
        const next = change(readProfiles(folder, user));
        write(folder, next);
        return next;
      });
    },
  };
}

/** Conf writes to a temporary folder that others cannot read; the file is renamed from there. */
function write(folder: string, next: StoredProfiles): void {
  const path = resolveLink(join(folder, configName));
  const temporary = mkdtempSync(join(dirname(path), '.config-'));
  try {
    // Whatever the umask.
    chmodSync(temporary, 0o700);
    const conf = new Conf<Record<string, unknown>>({
      cwd: temporary,
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
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** The config file may be a symbolic link to a file that is kept elsewhere. */
function resolveLink(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
