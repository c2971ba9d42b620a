import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Entry } from '../cli/terminal/output';
import { configName, folderOf } from './folders';

/**
 * The profiles of this user, to be changed; warns if others can read them then. Loads conf, whose signal handlers would end the
 * process before its work is done.
 */
export async function profileStore({ context, say }: Entry) {
  const { confStore } = await context.keepingSignals(() => import('./store'));
  const { now, sleep, uid: user } = context;
  const folder = folderOf('config', context);
  const { update }: ReturnType<typeof confStore> = confStore(folder, { now, sleep, user });
  return {
    update: async (change: Parameters<typeof update>[0]) => {
      const next = await update(change);
      const path = join(folder, configName);
      if (user !== undefined && (statSync(path).mode & 0o077) !== 0)
        await say.warn(`other users can read "${path}": its file system keeps no modes`);
      return next;
    },
  };
}
