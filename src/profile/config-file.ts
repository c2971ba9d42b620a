import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isObject, jsonIn } from '../contract/json';
import type { Environment } from '../platform/context';
import { type CliError, failedError, phrase, usageError } from '../platform/errors';
import { isSystemError, means, whyUnreadable } from '../platform/files/file-error';
import type { User } from '../platform/files/owner';
import { readVariable } from '../platform/files/read-variable';
import { checkFolder, readOwn } from '../platform/private-folder';
import { configName, copyName, findFolder, type System } from './folders';
import { type Profile, type StoredProfiles, wrongSetting } from './settings';

/**
 * Reads the config file without conf, which is loaded for writing only. A missing file means no profiles.
 * @throws CliError (usage) for an invalid file, or one that another user made or can write to; (failed) for no access
 */
export function storedProfiles(system: System): StoredProfiles {
  const folder = findFolder('config', system);
  if (folder === undefined) return { profiles: {} };
  return decodeConfig(readConfig(folder, system.uid), join(folder, configName));
}

/** @throws CliError (usage), which names the file by `path`, when the text is invalid */
export function decodeConfig(text: string | undefined, path: string): StoredProfiles {
  if (text === undefined || text.trim() === '') return { profiles: {} };
  const content = jsonIn(text);
  if (content === undefined) throw broken(path, 'is not JSON');
  if (!isObject(content)) throw broken(path, 'is not a JSON object');
  const { current, profiles = {} } = content;
  if (current !== undefined && typeof current !== 'string')
    throw broken(path, 'has a "current" that is not a string');
  if (!isObject(profiles)) throw broken(path, 'has "profiles" that are not an object');
  const decoded: Record<string, Profile> = Object.create(null);
  for (const [name, profile] of Object.entries(profiles)) {
    if (!isObject(profile)) throw broken(path, `has a profile "${name}" that is not an object`);
    const wrong = wrongSetting(profile);
    if (wrong !== undefined) throw broken(path, `has a profile "${name}" whose ${wrong}`);
    decoded[name] = profile;
  }
  return { ...(current === undefined ? {} : { current }), profiles: decoded };
}

/**
 * Returns the text of the config file, or of its copy if a rewrite left the file incomplete; undefined without a file.
 * The file must be the user's own, as it may name a command and an instance for a token.
 * @throws CliError as `storedProfiles` does
 */
export function readConfig(folder: string, user: User): string | undefined {
  const path = join(folder, configName);
  const instead = 'set PWPUSH_CONFIG_DIR to another folder';
  try {
    const rule = { user, what: 'the config file', instead };
    const copy = join(folder, copyName);
    const text = readOwn(path, rule);
    const whole = existsSync(copy) && jsonIn(text) === undefined ? readOwn(copy, rule) : text;
    checkFolder(folder, { user, what: 'the folder of the config file', instead });
    return whole;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    if (means(error, 'missing')) return undefined;
    throw failedError(phrase('config-unreadable', path, whyUnreadable(error)), {
      hints: phrase('check-config-file'),
    });
  }
}

function broken(path: string, what: string): CliError {
  return usageError(
    `the config file "${path}" ${what}`,
    'correct it, or move it and run pwpush login',
  );
}

export function noSuchProfile(name: string, stored: StoredProfiles) {
  const names = Object.keys(stored.profiles);
  return usageError(
    `no such profile: "${name}"`,
    names.length === 0 ? 'create one with pwpush login' : `choose one of: ${names.join(', ')}`,
  );
}

/** @param missing the name of the current profile, if it does not exist */
export function noneInUse(stored: StoredProfiles, missing?: string) {
  return usageError(
    missing === undefined
      ? 'no profile is in use'
      : `the profile in use, "${missing}", no longer exists`,
    `choose one with pwpush profile use: ${Object.keys(stored.profiles).join(', ')}`,
  );
}

export function profileIn({ profiles }: StoredProfiles, name: string): Profile | undefined {
  return Object.hasOwn(profiles, name) ? profiles[name] : undefined;
}

/** Returns a name that no profile has: this one, or `local-2` and so on, as the token of another may be its only copy. */
export function freeName({ profiles }: StoredProfiles, name: string): string {
  let free = name;
  for (let number = 2; Object.hasOwn(profiles, free); number++) free = `${name}-${number}`;
  return free;
}

/** Returns the profile that was typed, else that of the environment, else the current one. It may not exist. */
export function profileInUse(stored: StoredProfiles, env: Environment, typed?: string) {
  const chosen = typed ?? readVariable(env, 'PWPUSH_PROFILE');
  const name = chosen ?? stored.current;
  const profile = name === undefined ? undefined : profileIn(stored, name);
  return { name, profile, chosen };
}

/** @throws CliError (usage) when the profile in use does not exist */
export function existingProfile(stored: StoredProfiles, env: Environment, typed?: string) {
  const { name, profile } = profileInUse(stored, env, typed);
  if (name === undefined)
    throw Object.keys(stored.profiles).length === 0
      ? usageError('no profiles yet', 'create one with pwpush login')
      : noneInUse(stored);
  if (profile === undefined) throw noSuchProfile(name, stored);
  return { name, profile };
}
