import type { Context } from '../platform/context';
import { configFolder } from './folders';

/** The profiles of this user, to be changed. Loads conf, whose signal handlers would end the process before its work is done. */
export async function profileStore(context: Context) {
  const { confStore } = await context.keepingSignals(() => import('./store'));
  const { now, sleep, uid: user } = context;
  return confStore(configFolder(context), { now, sleep, user });
}
