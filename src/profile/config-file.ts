import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from '../platform/context';
import { type CliError, failedError, phrase, usageError } from '../platform/errors';
import { isSystemError, means, whyUnreadable } from '../platform/files/file-error';
import type { User } from '../platform/files/owner';
import { checkFolder, readOwn } from '../platform/private-folder';
import { configName, copyName, findFolder, type System } from './folders';
import { type Profile, type StoredProfiles, wrongSetting } from './settings';

/**
 * Reads the config file, without conf, which is loaded for writing only. A missing file means no profiles.
 * @throws CliError (usage) when the file is invalid, or another user made it or can write to it; CliError (failed) when
 * it cannot be read
 */
export function storedProfiles(system: System): StoredProfiles {
  const folder = findFolder('config', system);
  if (folder === undefined) return { profiles: {} };
  return decodeConfig(readConfig(folder, system.uid), join(folder, configName));
}

/**
 * Decodes the text of the config file; `path` is for errors.
 * @throws CliError (usage) when it is invalid
 */
export function decodeConfig(text: string | undefined, path: string): StoredProfiles {
  if (text === undefined || text.trim() === '') return { profiles: {} };
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    throw broken(path, 'is not JSON');
  }
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
 * The text of the config file, or of its copy if the file is there in part, which may name a command to run, and an instance to send a token to; undefined without a
 * file.
 * @throws CliError as `storedProfiles` does
 */
export function readConfig(folder: string, user: User): string | undefined {
  const path = join(folder, configName);
  const instead = 'set PWPUSH_CONFIG_DIR to another folder';
  try {
    const rule = { user, what: 'the config file', instead };
    const copy = join(folder, copyName);
    const text = readOwn(path, rule);
    const whole = existsSync(copy) && !isJson(text) ? readOwn(copy, rule) : text;
    checkFolder(folder, { user, what: 'the folder of the config file', instead });
    return whole;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    if (means(error, 'missing')) return undefined;
    throw failedError(phrase('config-unreadable', path, whyUnreadable(error)), {
      steps: phrase('check-config-file'),
    });
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function broken(path: string, what: string): CliError {
  return usageError(
    `the config file "${path}" ${what}`,
    'correct it, or move it and run pwpush login',
  );
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The error for a profile that does not exist; does not throw it. */
export function noSuchProfile(name: string, stored: StoredProfiles) {
  const names = Object.keys(stored.profiles);
  return usageError(
    `no such profile: "${name}"`,
    names.length === 0 ? 'create one with pwpush login' : `choose one of: ${names.join(', ')}`,
  );
}

/** The error if there are profiles, but none in use; `missing` is the one that should be. */
export function noneInUse(stored: StoredProfiles, missing?: string) {
  return usageError(
    missing === undefined
      ? 'no profile is in use'
      : `the profile in use, "${missing}", no longer exists`,
    `choose one with pwpush profile use: ${Object.keys(stored.profiles).join(', ')}`,
  );
}

/** The profile of that name; undefined without one. */
export function profileIn({ profiles }: StoredProfiles, name: string): Profile | undefined {
  return Object.hasOwn(profiles, name) ? profiles[name] : undefined;
}

/** The profile in use: the one that was named, else that of the environment, else the current one. */
export function profileInUse(
  stored: StoredProfiles,
  { PWPUSH_PROFILE: variable }: Environment,
  named?: string,
): ProfileInUse {
  const chosen = named ?? (variable || undefined);
  const name = chosen ?? stored.current;
  const profile = name === undefined ? undefined : profileIn(stored, name);
  return { name, profile, chosen };
}

interface ProfileInUse {
  readonly name: string | undefined;
  /** The profile of that name; undefined without one. */
  readonly profile: Profile | undefined;
  /** Its name, unless it is only the current one. */
  readonly chosen: string | undefined;
}

/**
 * The profile in use.
 * @throws CliError (usage) when it does not exist
 */
export function existingProfile(stored: StoredProfiles, env: Environment, named?: string) {
  const { name, profile } = profileInUse(stored, env, named);
  if (name === undefined)
    throw Object.keys(stored.profiles).length === 0
      ? usageError('no profiles yet', 'create one with pwpush login')
      : noneInUse(stored);
  if (profile === undefined) throw noSuchProfile(name, stored);
  return { name, profile };
}
