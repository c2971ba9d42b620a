import { commandWords } from '../cli/command-words';
import { readAll } from '../cli/source';
import type { Entry } from '../cli/terminal/output';
import type { Context, Token } from '../platform/context';
import { phrase, usageError } from '../platform/errors';
import { lazy } from '../platform/files/lazy';
import { smallText } from '../platform/private-folder';
import { parseToken, readTokenFile } from './api-token';
import { hasToken, type Profile, type Setting, settings, settingsOfEnvironment } from './settings';
import type { SettingSource, Sources, TokenReader } from './target';

const credentials = () => import('./credentials');

/** What was typed about the instance. */
export interface Given {
  readonly profile?: string | undefined;
  readonly anonymous: boolean;
  /** A file with the token; `-` is standard input. */
  readonly tokenFile?: string | undefined;
  /** Seconds to wait for a response. */
  readonly timeout?: number | undefined;
  readonly settings: Profile;
  /** How messages name what was typed. */
  named(setting: string): string;
}

/**
 * What the command line, the environment and profiles say about the instance. Each token, file and passphrase is read at most
 * once, when it is its turn.
 * @throws CliError (usage) for a variable with an invalid value, or a key without a certificate
 */
export function sourcesOf(run: Entry, given: Given): Sources {
  const { context } = run;
  const { env } = context;
  const known = new Map<string, SettingSource>();
  return {
    profile: given.profile,
    envProfile: env.PWPUSH_PROFILE || undefined,
    anonymous: given.anonymous,
    typed: sourceOf(context, given, typedToken(given, context)),
    env: sourceOf(
      context,
      {
        settings: settingsOfEnvironment(env),
        named: (name) => (settings[name] as Setting<unknown>).variable ?? '',
      },
      environmentToken(run),
    ),
    ofProfile: (name, profile) => {
      const said = { settings: profile, named: (setting: string) => `the setting ${setting}` };
      const source = known.get(name) ?? sourceOf(context, said, profileToken(run, name, profile));
      known.set(name, source);
      return source;
    },
  };
}

/** @throws CliError (usage) for a key without a certificate */
function sourceOf(
  context: Context,
  { settings, named }: Pick<SettingSource, 'settings' | 'named'>,
  token: TokenReader | undefined,
): SettingSource {
  const { 'headers-file': file, cert, 'cert-key': key } = settings;
  if (key !== undefined && cert === undefined)
    throw usageError(
      `${named('cert-key')} is the key of a client certificate, but none is named`,
      phrase('name-certificate'),
    );
  return {
    ...{ settings, named, token },
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
  { tokenFile: path, named }: Given,
  { stdin }: Context,
): TokenReader | undefined {
  if (path === undefined) return undefined;
  const from = named('token-file');
  const read = lazy(async () => {
    if (path !== '-') return readTokenFile(path);
    if (stdin.isTTY) throw usageError(`${from} - reads standard input, but nothing is piped in`);
    return parseToken(smallText(await readAll(stdin.bytes()), 'standard input'), 'standard input');
  });
  return { from, read };
}

/** Of the variables for a token, the first that is set has it. */
const tokenVariables = ['PWPUSH_TOKEN', 'PWPUSH_TOKEN_FILE', 'PWPUSH_TOKEN_COMMAND'] as const;

function environmentToken(run: Entry): TokenReader | undefined {
  const { env } = run.context;
  const from = tokenVariables.find((name) => env[name]);
  const value = from && env[from];
  if (!value) return undefined;
  const read = lazy(async () => {
    if (from === 'PWPUSH_TOKEN') return parseToken(value, from);
    if (from === 'PWPUSH_TOKEN_COMMAND') return commandToken(run, value, from);
    // A variable applies to many commands, each of which has its own standard input.
    if (value === '-') throw usageError(`${from} cannot be -`, phrase('pipe-token'));
    return readTokenFile(value);
  });
  return { from, read };
}

function profileToken(run: Entry, name: string, profile: Profile): TokenReader | undefined {
  const { token, 'token-command': command, url = '' } = profile;
  const from = `profile "${name}"`;
  const read = lazy(async () => {
    if (token !== undefined) return token;
    if (command !== undefined) return commandToken(run, command, `the token-command of ${from}`);
    return lazy(async () =>
      (await import('./system-keyring')).readFromKeyring(run.context, { profile: name, url }),
    );
  });
  return hasToken(profile) ? { from, ofProfile: true, read } : undefined;
}

/** Gets the token from the output of a command, once. */
function commandToken(run: Entry, command: string, from: string): Token {
  const words = commandWords(command, from);
  return lazy(async () => (await credentials()).runTokenCommand(run, words, from));
}
