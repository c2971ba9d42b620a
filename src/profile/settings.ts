import { resolve } from 'node:path';
import { parseEdition, positive } from '../cli/options';
import type { Profile } from '../platform/context';
import { usageError } from '../platform/errors';
import { parseBase } from './base-address';
import { commandWords } from './command-words';

type SettingName = Exclude<keyof Profile, 'token' | 'keyring'>;

const parsers: { readonly [K in SettingName]: (value: string) => NonNullable<Profile[K]> } = {
  url: parseBase,
  days: positive('days'),
  views: positive('views'),
  deletable: (value) => flag('deletable', value),
  'retrieval-step': (value) => flag('retrieval-step', value),
  encrypt: encryption,
  // A relative path would depend on the current folder.
  'ca-file': (value) => resolve(value),
  'headers-file': (value) => resolve(value),
  cert: (value) => resolve(value),
  'cert-key': (value) => resolve(value),
  'token-command': (value) => checkedCommand(value),
  insecure: (value) => flag('insecure', value),
  edition: (value) => parseEdition(value, 'edition'),
  account: (value) => value,
  receipts: (value) => flag('receipts', value),
};

export const settingNames = Object.keys(parsers) as SettingName[];

/**
 * Returns a profile with one setting changed; an empty value removes it. A new address removes the token and
 * all that decides whom to trust, which are for the old one.
 * @throws CliError (usage) for an unknown key or an invalid value
 */
export function withSetting(profile: Profile, key: string, value: string): Profile {
  if (key === 'token')
    throw usageError(
      'a token cannot be set on the command line, which other users can read',
      'use pwpush login, which asks for it',
    );
  if (!Object.hasOwn(parsers, key))
    throw usageError(`unknown setting "${key}"`, `choose one of: ${settingNames.join(', ')}`);
  const setting = key as SettingName;
  // A profile has one token.
  const before = setting === 'token-command' ? withoutToken(profile) : profile;
  const { [setting]: _old, ...rest } = before;
  const next: Profile = value === '' ? rest : { ...rest, [setting]: parsers[setting](value) };
  return setting === 'url' && next.url !== profile.url ? withoutTrust(next) : next;
}

/** Removes the token, wherever it is kept. */
export function withoutToken({
  token: _token,
  'token-command': _command,
  keyring: _keyring,
  ...rest
}: Profile): Profile {
  return rest;
}

/** Removes the settings that are for one address only. */
export function withoutTrust(profile: Profile): Profile {
  const {
    'ca-file': _ca,
    'headers-file': _headers,
    cert: _cert,
    'cert-key': _key,
    insecure: _insecure,
    edition: _edition,
    account: _account,
    ...rest
  } = withoutToken(profile);
  return rest;
}

function checkedCommand(value: string): string {
  commandWords(value, 'token-command');
  return value;
}

function flag(name: string, value: string): boolean {
  if (['true', 'yes', 'on', '1'].includes(value)) return true;
  if (['false', 'no', 'off', '0'].includes(value)) return false;
  throw usageError(`${name} must be true or false, not "${value}"`);
}

function encryption(value: string): 'link' | 'words' {
  if (value === 'link' || value === 'words') return value;
  throw usageError('encrypt takes link or words', 'an empty value removes it');
}

/** @throws CliError (usage) for a name that is hard to type or looks like an option */
export function checkProfileName(name: string): void {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name)) return;
  throw usageError('a profile name must be 1 to 64 letters, digits, dots, dashes and underscores');
}
