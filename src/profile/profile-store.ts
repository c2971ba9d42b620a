import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Entry } from '../cli/terminal/output';
import { configName, folderOf } from './folders';
import type { StoredProfiles } from './settings';

/**
 * Changes the profiles of this user, as `update` of the store does; warns if others can read them then. Loads conf, whose signal
 * handlers would end the process before its work is done.
 */
export async function updateProfiles<T extends StoredProfiles>(
  { context, say }: Entry,
  change: (stored: StoredProfiles) => T,
): Promise<T> {
  // Before conf is loaded, which fails in an executable where the user has no home folder.
  const folder = folderOf('config', context);
  const { confStore } = await context.keepingSignals(() => import('./store'));
  const { now, sleep, uid: user } = context;
  const next = await confStore(folder, { now, sleep, user }).update(change);
  const path = join(folder, configName);
  if (user !== undefined && (statSync(path).mode & 0o077) !== 0)
    await say.warn(`other users can read "${path}": its file system keeps no modes`);
  return next;
}
