import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fchmodSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Context } from '../context';
import { CliError } from '../errors';
import { stateFolder } from '../profile/folders';
import { makeFolder } from '../system/private-folder';

/** What rescuing needs to know. */
export type World = Pick<Context, 'env' | 'platform' | 'home' | 'now'>;

/** How the folder begins that is made below `TMPDIR` where the state folder cannot be written. */
export const TEMPORARY = 'pwpush-rescue-';

/** Where temporary files go. */
export function temporaryFolder({ env }: Pick<Context, 'env'>): string {
  return env.TMPDIR || tmpdir();
}

/** Such as `secret-2026-08-20T11-06-45-000Z-1f2e3d4c`. */
function nameNow(what: string, { now }: World): string {
  return `${what}-${now().toISOString().replace(/[:.]/g, '-')}-${randomBytes(4).toString('hex')}`;
}

/**
 * Saves what could not be delivered to a 0600 file in the state folder, or in a new folder of mode 0700
 * below `TMPDIR`, and returns its path.
 * @throws CliError (failed) when neither can be written
 */
export async function rescue(
  world: World,
  what: string,
  bytes: string | Uint8Array,
): Promise<string> {
  return inRescueFolder(world, async (folder) => {
    const path = join(folder, nameNow(what, world));
    // At once: after a signal the process may end at any pause, and would leave an empty file.
    const fd = openSync(path, 'wx', 0o600);
    try {
      fchmodSync(fd, 0o600);
      writeFileSync(fd, bytes);
      fsyncSync(fd);
    } catch (error) {
      // A part of it would pass for the whole.
      rmSync(path, { force: true });
      throw error;
    } finally {
      closeSync(fd);
    }
    return path;
  });
}

/**
 * A new folder, 0700, for files that cannot go where they belong.
 * @throws CliError (failed) when there is no place for it
 */
export function rescueFolder(world: World): Promise<string> {
  return inRescueFolder(world, async (folder) => {
    const path = join(folder, nameNow('files', world));
    makeFolder(path);
    return path;
  });
}

async function inRescueFolder(
  world: World,
  work: (folder: string) => Promise<string>,
): Promise<string> {
  const folder = stateFolder(world);
  try {
    makeFolder(folder);
    return await work(folder);
  } catch (error) {
    try {
      return await work(mkdtempSync(join(temporaryFolder(world), TEMPORARY)));
    } catch {
      throw new CliError('failed', `it could not be saved to ${folder} either (${reason(error)})`, {
        cause: error,
      });
    }
  }
}

function reason(error: unknown): string {
  return error instanceof CliError ? error.message : `${(error as NodeJS.ErrnoException).code}`;
}
