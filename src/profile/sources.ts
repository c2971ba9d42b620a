import { readAll } from '../cli/source';
import type { Entry } from '../cli/terminal/output';
import { commandWords } from '../cli/values';
import type { Token } from '../client/api-settings';
import { lazy } from '../contract/lazy';
import type { Context } from '../platform/context';
import { CliError, phrase, tried, usageError } from '../platform/errors';
import { readVariable } from '../platform/files/read-variable';
import { smallText } from '../platform/private-folder';
import { listed } from '../words/grammar';
import { parseToken, readTokenFile } from './api-token';
import { profileInUse, storedProfiles } from './config-file';
import {
  hasToken,
  type PartialSettings,
  type Profile,
  type Setting,
  settings,
  settingsOfEnvironment,
} from './settings';
import { NO_PROFILES, type SettingSource, type Sources, type TokenReader } from './target';

export const credentials = () => import('./credentials');

export interface InstanceOptions {
  readonly profile?: string | undefined;
  readonly anonymous: boolean;
  /** `-` is standard input. */
  readonly tokenFile?: string | undefined;
  /** In seconds. */
  readonly timeout?: number | undefined;
  readonly url?: string | undefined;
  readonly account?: number | undefined;
  readonly insecure: boolean;
  readonly caFile?: string | undefined;
  readonly cert?: string | undefined;
  readonly certKey?: string | undefined;
  readonly headersFile?: string | undefined;
}

const option = (setting: string) => `--${setting}`;

/**
 * Collects what the command line, the environment and profiles say about the instance. Each token, file and passphrase
 * is read at most once, when it is needed, as `<(pass show token)` is empty the second time.
 * @throws CliError (usage) for a variable with an invalid value, or a key without a certificate
 */
export function sourcesOf(entry: Entry, options: InstanceOptions): Sources {
  const { context } = entry;
  const { env } = context;
  const { profile, anonymous, timeout } = options;
  const known = new Map<string, SettingSource>();
  return withProfiles(context, {
    profile,
    anonymous,
    timeout,
    typed: sourceOf(
      context,
      { settings: typedSettings(options), labelOf: option },
      typedToken(options, context),
    ),
    env: sourceOf(
      context,
      {
        settings: settingsOfEnvironment(env),
        labelOf: (name) => (settings[name] as Setting<unknown>).variable ?? '',
      },
      environmentToken(entry),
    ),
    ofProfile: (name, profile) => {
      const stored = { settings: profile, labelOf: (setting: string) => `the setting ${setting}` };
      const source =
        known.get(name) ?? sourceOf(context, stored, profileToken(entry, name, profile));
      known.set(name, source);
      return source;
    },
  });
}

/** Adds the profiles. Reads the config file each time, as a login may have changed it. */
export function withProfiles(
  context: Context,
  sources: Omit<Sources, 'stored' | 'inUse'>,
): Sources {
  const stored = tried(() => storedProfiles(context));
  const known = stored instanceof CliError ? NO_PROFILES : stored;
  return { ...sources, stored, inUse: profileInUse(known, context.env, sources.profile) };
}

function typedSettings(options: InstanceOptions): PartialSettings {
  const { url, account, insecure, caFile, cert, certKey, headersFile } = options;
  return {
    url,
    account,
    insecure: insecure || undefined,
    'ca-file': caFile,
    cert,
    'cert-key': certKey,
    'headers-file': headersFile,
  };
}

function sourceOf(
  context: Context,
  { settings, labelOf }: Pick<SettingSource, 'settings' | 'labelOf'>,
  token: TokenReader | undefined,
): SettingSource {
  const { 'headers-file': file, cert, 'cert-key': key } = settings;
  if (key !== undefined && cert === undefined)
    throw usageError(
      `${labelOf('cert-key')} is the key of a client certificate, but none is named`,
      phrase('name-certificate'),
    );
  return {
    settings,
    labelOf,
    token,
    headers:
      file === undefined
        ? undefined
        : lazy(async () => (await credentials()).readHeadersFile(file, context.uid)),
    certificate:
      cert === undefined
        ? undefined
        : lazy(async () => (await credentials()).readClientCertificate({ cert, key }, context)),
  };
}

function typedToken(
  { tokenFile: path }: InstanceOptions,
  { stdin }: Context,
): TokenReader | undefined {
  if (path === undefined) return undefined;
  const from = option('token-file');
  const read = lazy(async () => {
    if (path !== '-') return readTokenFile(path);
    if (stdin.isTTY) throw usageError(`${from} - reads standard input, but nothing is piped in`);
    return parseToken(smallText(await readAll(stdin.bytes()), 'standard input'), 'standard input');
  });
  return { from, read };
}

const tokenVariables = [
  'PWPUSH_TOKEN',
  'PWPUSH_TOKEN_FILE',
  'PWPUSH_TOKEN_COMMAND',
  'PWPUSH_TOKEN_FROM',
] as const;

/** @throws CliError (usage) if several variables say what the token is: one of them may be left from elsewhere */
function environmentToken(entry: Entry): TokenReader | undefined {
  const { env } = entry.context;
  const [from, ...others] = tokenVariables.filter((name) => readVariable(env, name));
  if (others.length > 0)
    throw usageError(`${listed([from ?? '', ...others])} are set`, phrase('keep-one-variable'));
  const value = from && readVariable(env, from);
  if (from === undefined || value === undefined) return undefined;
  const read = lazy(async () => {
    if (from === 'PWPUSH_TOKEN') return parseToken(value, from);
    if (from === 'PWPUSH_TOKEN_FROM') return (await import('./job-token')).jobToken(entry);
    if (from === 'PWPUSH_TOKEN_COMMAND') return commandToken(entry, value, from);
    // A variable applies to many commands, each of which has its own standard input.
    if (value === '-') throw usageError(`${from} cannot be -`, phrase('pipe-token'));
    return readTokenFile(value);
  });
  return { from, read };
}

function profileToken(entry: Entry, name: string, profile: Profile): TokenReader | undefined {
  const { token, 'token-command': command, 'token-from': job, url = '' } = profile;
  const from = `profile "${name}"`;
  const read = lazy(async () => {
    if (token !== undefined) return token;
    if (command !== undefined) return commandToken(entry, command, `the token-command of ${from}`);
    if (job !== undefined) return (await import('./job-token')).jobToken(entry);
    return lazy(async () =>
      (await import('./system-keyring')).readFromKeyring(entry.context, { profile: name, url }),
    );
  });
  return hasToken(profile) ? { from, ofProfile: true, read } : undefined;
}

function commandToken(entry: Entry, command: string, from: string): Token {
  const words = commandWords(command, from);
  return lazy(async () => (await credentials()).runTokenCommand(entry, words, from));
}
