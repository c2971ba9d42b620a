import { commandWords } from '../cli/command-words';
import { readAll } from '../cli/source';
import type { Invocation } from '../cli/terminal/output';
import type { Context, Token } from '../platform/context';
import { phrase, usageError } from '../platform/errors';
import { lazy } from '../platform/files/lazy';
import { parseToken, readTokenFile } from './api-token';
import { hasToken, type Profile, settings, settingsOfEnvironment } from './settings';
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
export function sourcesOf(run: Invocation, given: Given): Sources {
  const { context } = run;
  const { env } = context;
  const { tokenFile, named } = given;
  const known = new Map<string, SettingSource>();
  return {
    profile: given.profile,
    envProfile: env.PWPUSH_PROFILE || undefined,
    anonymous: given.anonymous,
    typed: sourceOf(
      context,
      given.settings,
      named,
      tokenFile === undefined
        ? undefined
        : {
            from: named('token-file'),
            read: lazy(() => typedToken(tokenFile, named('token-file'), context)),
          },
    ),
    env: sourceOf(
      context,
      settingsOfEnvironment(env),
      (setting) => variables.get(setting) ?? '',
      environmentToken(run),
    ),
    ofProfile: (name, profile) => {
      const before = known.get(name);
      if (before) return before;
      const read = lazy(async () => tokenOfProfile(run, name, profile));
      const token = hasToken(profile) ? { from: `profile "${name}"`, read } : undefined;
      const source = sourceOf(context, profile, (setting) => `the setting ${setting}`, token);
      known.set(name, source);
      return source;
    },
  };
}

const variables = new Map(
  Object.entries(settings).map(([name, row]) => [name, 'variable' in row ? row.variable : '']),
);

/** @throws CliError (usage) for a key without a certificate */
function sourceOf(
  context: Context,
  settings: Profile,
  named: SettingSource['named'],
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

async function typedToken(path: string, named: string, { stdin }: Context): Promise<string> {
  if (path !== '-') return readTokenFile(path);
  if (stdin.isTTY) throw usageError(`${named} - reads standard input, but nothing is piped in`);
  return parseToken((await readAll(stdin.bytes())).toString('utf8'), 'standard input');
}

/** Variables of a token, and how it is read; the first that is set has it. */
const tokenVariables: Readonly<
  Record<string, (value: string, run: Invocation, name: string) => Promise<Token>>
> = {
  PWPUSH_TOKEN: async (value, _, name) => parseToken(value, name),
  PWPUSH_TOKEN_FILE: async (path, _, name) => {
    // A variable applies to many commands, each of which has its own standard input.
    if (path !== '-') return readTokenFile(path);
    throw usageError(`${name} cannot be -`, phrase('pipe-token'));
  },
  PWPUSH_TOKEN_COMMAND: async (command, run, name) => commandToken(run, command, name),
};

function environmentToken(run: Invocation): TokenReader | undefined {
  for (const [from, read] of Object.entries(tokenVariables)) {
    const value = run.context.env[from];
    if (value) return { from, read: lazy(() => read(value, run, from)) };
  }
  return undefined;
}

/** Gets the token from the output of a command, once. */
function commandToken(run: Invocation, command: string, from: string): () => Promise<string> {
  const words = commandWords(command, from);
  return lazy(async () => (await credentials()).runTokenCommand(run, words, from));
}

function tokenOfProfile(
  run: Invocation,
  name: string,
  { token, 'token-command': command, url = '' }: Profile,
): Token {
  if (token !== undefined) return token;
  if (command !== undefined)
    return commandToken(run, command, `the token-command of profile "${name}"`);
  return lazy(async () =>
    (await import('./system-keyring')).readFromKeyring(run.context, { profile: name, url }),
  );
}
