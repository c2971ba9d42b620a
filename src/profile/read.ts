import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CliError, usageError } from '../errors';
import type { Profile, StoredProfiles } from './target';
import { isToken } from './token-file';

export const configName = 'config.json';

/**
 * Reads the profiles: one `readFileSync`, no library. No file means no profiles.
 * @throws CliError (usage) when the file is not what pwpush writes; it is left as it is
 */
export function readProfiles(folder: string): StoredProfiles {
  const path = join(folder, configName);
  const text = readText(path);
  if (text === undefined || text.trim() === '') return { profiles: {} };
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    throw broken(path, 'is not JSON');
  }
  return decode(content, path);
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new CliError('failed', `the config file ${path} cannot be read (${code})`, {
      hint: 'check its owner and mode, or point PWPUSH_CONFIG_DIR elsewhere',
    });
  }
}

function broken(path: string, what: string): CliError {
  return usageError(
    `the config file ${path} ${what}`,
    'mend it, or move it away and run pwpush login',
  );
}

function decode(content: unknown, path: string): StoredProfiles {
  if (!isObject(content)) throw broken(path, 'holds no JSON object');
  const { current, profiles = {} } = content;
  if (current !== undefined && typeof current !== 'string')
    throw broken(path, 'has a "current" that is no text');
  if (!isObject(profiles)) throw broken(path, 'has "profiles" that are no object');
  const decoded: Record<string, Profile> = Object.create(null);
  for (const [name, profile] of Object.entries(profiles)) {
    if (!isObject(profile)) throw broken(path, `has a profile "${name}" that is no object`);
    decoded[name] = decodeProfile(profile, name, path);
  }
  return { ...(current === undefined ? {} : { current }), profiles: decoded };
}

const types: { readonly [K in keyof Required<Profile>]: 'string' | 'number' | 'boolean' } = {
  url: 'string',
  token: 'string',
  days: 'number',
  views: 'number',
  deletable: 'boolean',
  'retrieval-step': 'boolean',
  'ca-file': 'string',
  insecure: 'boolean',
};

function decodeProfile(profile: Record<string, unknown>, name: string, path: string): Profile {
  for (const [key, type] of Object.entries(types)) {
    const value = profile[key];
    // `type` is one of the words typeof gives.
    if (value !== undefined && typeof value !== type) {
      throw broken(path, `has a profile "${name}" whose ${key} is no ${type}`);
    }
  }
  const { token, days, views } = profile;
  if (typeof token === 'string' && !isToken(token))
    throw broken(path, `has a profile "${name}" whose token is none`);
  for (const number of [days, views]) {
    const fits = number === undefined || (Number.isInteger(number) && (number as number) >= 1);
    if (!fits)
      throw broken(
        path,
        `has a profile "${name}" whose days or views are no whole number of 1 or more`,
      );
  }
  return profile as Profile;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
