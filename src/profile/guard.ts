import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Context } from '../platform/context';
import { readOwn } from '../platform/private-folder';
import { agentMarker } from '../platform/surroundings';
import { configName, copyName, folderOf } from './folders';

/**
 * Implements `Context.guard`: the setting `agent` of the profile in use decides, or else whether an agent runs us.
 * @param profile the value of `--profile`
 */
export async function whyGuarded(
  context: Context,
  profile: string | undefined,
): Promise<string | undefined> {
  const { name, agent } = (await settingOf(context, profile)) ?? {};
  if (agent === 'allow') return undefined;
  const marker = agentMarker(context.env);
  if (marker !== undefined) return `a coding agent reads this output (${marker})`;
  return agent === 'refuse' ? `the setting agent of profile "${name}" is refuse` : undefined;
}

/** An unreadable config file has no setting `agent`: the commands that need the file report why. */
async function settingOf(context: Context, typed: string | undefined) {
  try {
    const folder = folderOf('config', context);
    const rule = { user: context.uid, what: 'the config file', instead: '' };
    const profiles = readOwn(join(folder, configName), rule);
    // Most config files have no setting `agent`, and so do not need the decoder.
    if (!profiles.includes('"agent"') && !existsSync(join(folder, copyName))) return undefined;
    const { profileInUse, storedProfiles } = await import('./config-file');
    const { name, profile } = profileInUse(storedProfiles(context), context.env, typed);
    return { name, agent: profile?.agent };
  } catch {
    return undefined;
  }
}
