import { commandWords } from '../cli/command-words';
import { readAll } from '../cli/source';
import type { Invocation } from '../cli/terminal/output';
import type { ClientCertificate, Context, HeaderFields, Token } from '../platform/context';
import { usageError } from '../platform/errors';
import { lazy } from '../platform/files/lazy';
import { parseToken, readTokenFile } from './api-token';
import type { CertificateFiles } from './client-certificate';
import {
  hasToken,
  type Profile,
  settings,
  settingsOfEnvironment,
  settingsOfOptions,
} from './settings';
import type { Access, TargetRequest, TokenSource } from './target';

/**
 * Reads from options and environment what they say about the instance. Each token, file and passphrase is read at most once, when it is
 * its turn.
 * @throws CliError (usage) for a variable with an invalid value, or a key without a certificate
 */
export function targetRequestOf(run: Invocation): TargetRequest {
  const { context, options } = run;
  const { env } = context;
  const { tokenFile } = options;
  const accessOf = accessReader(context);
  const tokenOf = profileTokens(run);
  const typed = settingsOfOptions(options);
  const around = settingsOfEnvironment(env);
  return {
    profile: options.profile,
    anonymous: options.anonymous,
    options: {
      ...accessOf(typed, '--cert-key'),
      settings: typed,
      token:
        tokenFile === undefined
          ? undefined
          : { from: '--token-file', read: lazy(() => tokenFrom(tokenFile, context)) },
    },
    env: {
      ...accessOf(around, settings['cert-key'].variable),
      settings: around,
      token: environmentToken(run),
      profile: env.PWPUSH_PROFILE || undefined,
    },
    ofProfile: (name, profile) => ({
      ...accessOf(profile, 'the setting cert-key'),
      settings: profile,
      token: tokenOf(name, profile),
    }),
  };
}

/** @throws CliError (usage) for a key without a certificate */
function certificateFiles(
  { cert, 'cert-key': key }: Profile,
  named: string,
): CertificateFiles | undefined {
  if (cert !== undefined) return { cert, key };
  if (key === undefined) return undefined;
  throw usageError(
    `${named} is the key of a client certificate, but none is named`,
    'name it with --cert, PWPUSH_CERT_FILE or the setting cert',
  );
}

/** Makes what opens the paths of settings. Each file is read once in a run: a passphrase is asked for once, and a pipe is empty then. */
function accessReader(context: Context): (of: Profile, keyName: string) => Access {
  const headers = new Map<string, () => Promise<HeaderFields>>();
  const certificates = new Map<string, () => Promise<ClientCertificate>>();
  const once = <T>(known: Map<string, () => Promise<T>>, key: string, read: () => Promise<T>) => {
    const reader = known.get(key) ?? lazy(read);
    known.set(key, reader);
    return reader;
  };
  return (of, keyName) => {
    const file = of['headers-file'];
    const certificate = certificateFiles(of, keyName);
    return {
      headers:
        file === undefined
          ? undefined
          : once(headers, file, async () =>
              (await import('./header-fields')).readHeadersFile(file, context.uid),
            ),
      certificate:
        certificate &&
        once(certificates, JSON.stringify([certificate.cert, certificate.key]), async () =>
          (await import('./client-certificate')).readClientCertificate(certificate, context),
        ),
    };
  };
}

async function tokenFrom(path: string, { stdin }: Context): Promise<string> {
  if (path !== '-') return readTokenFile(path);
  if (stdin.isTTY) throw usageError('--token-file - reads standard input, but nothing is piped in');
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
    throw usageError(`${name} cannot be -`, 'use --token-file - to read standard input');
  },
  PWPUSH_TOKEN_COMMAND: async (command, run, name) => commandToken(run, command, name),
};

function environmentToken(run: Invocation): TokenSource | undefined {
  for (const [from, read] of Object.entries(tokenVariables)) {
    const value = run.context.env[from];
    if (value) return { from, read: lazy(() => read(value, run, from)) };
  }
  return undefined;
}

/** Gets the token from the output of a command, once. */
function commandToken(run: Invocation, command: string, from: string): () => Promise<string> {
  const words = commandWords(command, from);
  return lazy(async () => (await import('./token-command')).runTokenCommand(run, words, from));
}

/** The token of a profile that has one. */
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

/** The tokens of profiles; each is got once in a run. */
function profileTokens(run: Invocation) {
  const known = new Map<string, TokenSource>();
  return (name: string, profile: Profile): TokenSource | undefined => {
    if (!hasToken(profile)) return undefined;
    const read = lazy(async () => tokenOfProfile(run, name, profile));
    const source = known.get(name) ?? { from: `profile "${name}"`, read };
    known.set(name, source);
    return source;
  };
}
