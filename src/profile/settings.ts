import { resolve } from 'node:path';
import * as v from 'valibot';
import { oneOf } from '../cli/near-words';
import { accountId, commandWords, days, editions, positive, truth } from '../cli/values';
import type { Environment } from '../platform/context';
import { usageError } from '../platform/errors';
import { readVariable } from '../platform/files/read-variable';
import { isToken } from './api-token';
import { parseBase } from './base-address';

export interface Setting<T> {
  /** Checks the value in the config file; its issue ends a text such as "a profile whose days is not a number". */
  readonly schema: v.GenericSchema<unknown, T>;
  /** Parses the value for `profile set`, which cannot change a setting without this. */
  readonly parse?: (text: string, name: string) => T;
  readonly about?: string;
  /** The words that the value can be, or `files` if it is a path. */
  readonly values?: readonly string[] | 'files';
  /** Names the variable of the environment that has precedence over the setting. */
  readonly variable?: string;
  /** Set if the setting is for one address only, as it is a token or decides whom to trust. */
  readonly bound?: 'token' | 'address';
}

const WHOLE = 'is not a whole number of 1 or more';

const text = { schema: v.string('is not a string') };
const flag = {
  schema: v.boolean('is not a boolean'),
  parse: truth,
  values: ['true', 'false'],
};
const count = {
  schema: v.pipe(v.number('is not a number'), v.integer(WHOLE), v.minValue(1, WHOLE)),
  parse: positive,
};

/** Resolves the path, as the file decides whom to trust and must not depend on the current folder. */
const file = (about: string, variable: string) =>
  ({
    ...text,
    parse: (value: string) => resolve(value),
    about,
    values: 'files',
    variable,
    bound: 'address',
  }) as const;

export const settings = {
  url: {
    ...text,
    parse: (value) => parseBase(value),
    about: 'address of the instance',
    variable: 'PWPUSH_URL',
  },
  token: { schema: v.pipe(text.schema, v.check(isToken, 'is invalid')), bound: 'token' },
  keyring: { schema: flag.schema, bound: 'token' },
  days: { ...count, parse: days, about: 'pushes expire after N days' },
  views: { ...count, about: 'pushes expire after N views' },
  deletable: { ...flag, about: 'recipients can delete pushes' },
  click: { ...flag, about: 'a click opens pushes' },
  /** `off` has the effect of no setting, but a login does not replace it. */
  encrypt: {
    ...among(['link', 'words', 'off']),
    about: 'encrypt pushes; where the key goes: link, words, off',
    variable: 'PWPUSH_ENCRYPT',
  },
  'ask-passphrase': { ...flag, about: 'ask for a passphrase after a secret that is typed' },
  'ca-file': file('certificates of a private CA', 'PWPUSH_CA_FILE'),
  'headers-file': file('headers for an access proxy', 'PWPUSH_HEADERS_FILE'),
  cert: file('client certificate; its private key may be in the same file', 'PWPUSH_CERT_FILE'),
  'cert-key': file('private key of the client certificate', 'PWPUSH_CERT_KEY_FILE'),
  'token-command': {
    ...text,
    parse: parseCommand,
    about: 'command that prints the token',
    bound: 'token',
  },
  'token-from': {
    ...among(['ci']),
    about: 'exchange an identity token for the token: ci',
    variable: 'PWPUSH_TOKEN_FROM',
    bound: 'token',
  },
  'token-audience': {
    ...text,
    parse: (value) => value,
    about: 'audience of that identity token, if not the address',
    variable: 'PWPUSH_TOKEN_AUDIENCE',
    bound: 'address',
  },
  insecure: { ...flag, about: 'accept any certificate, and plain http', bound: 'address' },
  /** Login asks the instance for its edition; `pwpush` is our own service. */
  edition: {
    ...among(editions),
    about: 'kind of the instance',
    variable: 'PWPUSH_EDITION',
    bound: 'address',
  },
  account: {
    ...count,
    parse: accountId,
    about: 'ID of an account of the commercial edition',
    bound: 'address',
  },
  /** True by default. */
  receipts: {
    ...flag,
    about: 'keep receipts of pushes on this machine',
    variable: 'PWPUSH_RECEIPTS',
  },
  /** Without this setting, secrets are not printed if a coding agent runs this program. */
  agent: { ...among(['allow', 'refuse']), about: 'whether secrets are printed: allow, refuse' },
} as const satisfies Readonly<Record<string, Setting<unknown>>>;

type Name = keyof typeof settings;

export type Profile = { [K in Name]?: v.InferOutput<(typeof settings)[K]['schema']> };

export type PartialSettings = { readonly [K in Name]?: Profile[K] | undefined };

export interface StoredProfiles {
  current?: string;
  profiles: Record<string, Profile>;
}

const rows = Object.entries(settings) as readonly [Name, Setting<unknown>][];

export const settingNames = rows.flatMap(([name, { parse }]) => (parse ? [name] : []));

export const settingNamed = (name: string) => rows.find(([other]) => other === name)?.[1];

/** Describes the first fault of a profile of the config file, such as `days is not a number`; undefined without one. */
export function wrongSetting(profile: Readonly<Record<string, unknown>>): string | undefined {
  for (const [name, { schema }] of rows) {
    if (profile[name] === undefined) continue;
    const { issues } = v.safeParse(schema, profile[name]);
    if (issues) return `${name} ${issues[0].message}`;
  }
  return undefined;
}

/**
 * An empty variable of the environment sets nothing.
 * @throws CliError (usage) for an invalid value
 */
export function settingsOfEnvironment(env: Environment): Profile {
  return settingsFrom(({ schema, parse, variable }) => {
    const value = variable && readVariable(env, variable);
    if (value === undefined || variable === undefined) return undefined;
    return v.is(schema, value) ? value : parse?.(value, variable);
  });
}

function settingsFrom(get: (setting: Setting<unknown>, name: Name) => unknown): Profile {
  const all = rows.map(([name, setting]) => [name, get(setting, name)] as const);
  return Object.fromEntries(all.filter(([, value]) => value !== undefined));
}

/** Returns the typed settings that `login` saves: those that are bound to the address. */
export function savedSettings(typed: PartialSettings): Profile {
  return settingsFrom(({ bound, parse }, name) => {
    const value = typed[name];
    if (bound !== 'address') return undefined;
    return typeof value === 'string' ? parse?.(value, name) : value;
  });
}

/**
 * Returns a profile with one setting changed, or without it if there is no value. Another address removes the token and
 * all that decides whom to trust, which were for the old address.
 * @throws CliError (usage) for an unknown key or an invalid value
 */
export function withSetting(profile: Profile, key: string, value: string | undefined): Profile {
  if (key === 'token')
    throw usageError(
      'a token cannot be set on the command line, which other users can read',
      'use pwpush login, which asks for it',
    );
  const [setting, { parse = undefined, bound = undefined } = {}] =
    rows.find(([name]) => name === key) ?? [];
  if (setting === undefined || parse === undefined)
    throw usageError(`unknown setting "${key}"`, `choose one of: ${settingNames.join(', ')}`);
  // `"$UNSET"` in a shell becomes an empty value.
  if (value === '')
    throw usageError(
      `${key} cannot be empty`,
      `to remove it, run pwpush profile unset NAME ${key}`,
    );
  // A profile has only one of the settings with a token.
  const { [setting]: _old, ...rest } = bound === 'token' ? withoutToken(profile) : profile;
  const next: Profile = value === undefined ? rest : { ...rest, [setting]: parse(value, setting) };
  return movedFrom(profile.url, next);
}

export const ENCRYPTS = 'its pushes are encrypted end to end (setting: encrypt = link)';

/**
 * Turns encryption on at the first login that saves the instance in a profile, for our own service, whose page
 * decrypts. After that, only the user changes this: neither a later login nor another edition at the same address does.
 * @param before the profile before the login
 */
export function withEncryption(profile: Profile, before: Profile): Profile {
  const isKnown = before.edition !== undefined && before.url === profile.url;
  if (isKnown || profile.edition !== 'pwpush') return profile;
  return { ...profile, encrypt: profile.encrypt ?? 'link' };
}

export function withoutToken(profile: Profile): Profile {
  return keeping(profile, ({ bound }) => bound !== 'token');
}

/** Removes the token and all that is for one address, if the address has changed. */
export function movedFrom(before: string | undefined, profile: Profile): Profile {
  // Settings made before the first address are for that address.
  const moved = before !== undefined && before !== profile.url;
  return moved ? keeping(profile, ({ bound }) => bound === undefined) : profile;
}

/** Settings of a later version of the program, which have no row, stay too. */
function keeping(profile: Profile, keeps: (setting: Setting<unknown>) => boolean): Profile {
  const gone = new Set<string>(rows.flatMap(([name, row]) => (keeps(row) ? [] : [name])));
  return Object.fromEntries(Object.entries(profile).filter(([name]) => !gone.has(name)));
}

export function hasToken(profile: Profile): boolean {
  const { token, keyring, 'token-command': command, 'token-from': from } = profile;
  return token !== undefined || keyring === true || command !== undefined || from !== undefined;
}

function parseCommand(value: string, name: string): string {
  commandWords(value, name);
  return value;
}

function among<const Word extends string>(words: readonly Word[]) {
  return {
    schema: v.picklist(words, `is not one of ${words.join(', ')}`),
    values: words,
    parse: oneOf(words),
  };
}

/** @throws CliError (usage) for a name that is hard to type or looks like an option */
export function checkProfileName(name: string): void {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name)) return;
  throw usageError('a profile name must be 1 to 64 letters, digits, dots, dashes and underscores');
}
