import type { Context } from '../platform/context';
import { type CliError, type Fact, failedError, phrase } from '../platform/errors';
import type { HelperEnd, HelperProgram } from '../platform/helper-program';
import { isToken } from './api-token';
import type { Profile } from './settings';

/** The address is a part of the key, so that another address in the config file finds no token. */
interface KeyringEntry {
  readonly profile: string;
  readonly url: string;
}

type Work = 'store' | 'read' | 'remove';

/** The token goes to the standard input of the program, never into an argument. */
type Keyring = (work: Work, entry: KeyringEntry, token?: string) => HelperProgram;

/** secret-tool(1) of libsecret reaches GNOME Keyring, KWallet and KeePassXC. */
function secretTool(
  work: Work | 'search',
  { profile, url }: KeyringEntry,
  input = '',
): HelperProgram {
  const verb = {
    store: ['store', `--label=pwpush: ${profile}`],
    read: ['lookup'],
    remove: ['clear'],
    search: ['search'],
  }[work];
  const entry = ['application', 'pwpush', 'profile', profile, 'url', url];
  return { words: ['secret-tool', ...verb, ...entry], input };
}

/** security(1) of macOS reads commands from standard input with `-i`. */
const security: Keyring = (work, { profile, url }, token = '') => {
  const entry = ['-a', profile, '-s', `pwpush ${url}`];
  if (work === 'read') return { words: ['security', 'find-generic-password', ...entry, '-w'] };
  if (work === 'remove') return { words: ['security', 'delete-generic-password', ...entry] };
  const hex = Buffer.from(token).toString('hex');
  const command = ['add-generic-password', ...entry, '-U', '-X', hex];
  const quoted = (word: string) => `"${word.replace(/["\\]/g, '\\$&')}"`;
  return { words: ['security', '-i'], input: `${command.map(quoted).join(' ')}\n` };
};

/** PowerShell reaches the PasswordVault of Windows; its script reads resource, user name and token as lines. */
const passwordVault: Keyring = (work, { profile, url }, token) => {
  const script = {
    store:
      '$v.Add([Windows.Security.Credentials.PasswordCredential, Windows.Security.Credentials, ContentType = WindowsRuntime]::new($r, $u, $in.ReadLine()))',
    read: '$c = $v.Retrieve($r, $u); $c.RetrievePassword(); [Console]::Out.Write($c.Password)',
    remove: '$v.Remove($v.Retrieve($r, $u))',
  }[work];
  return {
    words: [
      ...(['powershell.exe', '-NoLogo', '-NoProfile', '-NonInteractive', '-Command'] as const),
      `$ErrorActionPreference = 'Stop'; $in = [Console]::In; $r = $in.ReadLine(); $u = $in.ReadLine(); $v = [Windows.Security.Credentials.PasswordVault, Windows.Security.Credentials, ContentType = WindowsRuntime]::new(); ${script}`,
    ],
    input: [`pwpush ${url}`, profile, ...(token === undefined ? [] : [token]), ''].join('\n'),
  };
};

const keyrings: Readonly<Record<string, Keyring>> = { darwin: security, win32: passwordVault };
const keyringOf = ({ platform }: Context) => keyrings[platform] ?? secretTool;

/**
 * Writes a token to the system's keyring, reads it back and compares it.
 * @throws CliError (failed) if the keyring does not keep it; CliError when the run is interrupted
 */
export async function storeInKeyring(
  context: Context,
  entry: KeyringEntry,
  token: string,
  limitMs?: number,
): Promise<void> {
  const keyring = keyringOf(context);
  const stored = await run(context, keyring('store', entry, token), limitMs);
  if (stored.problem !== undefined) throw unusable(stored.problem.replaceAll(token, '***'));
  const kept = await run(context, keyring('read', entry));
  if (kept.output === token) return;
  await run(context, keyring('remove', entry));
  throw unusable(kept.problem ?? 'it returned something else than it was given');
}

/** @throws CliError (failed) if the keyring is locked or has no token; CliError when the run is interrupted */
export async function readFromKeyring(context: Context, entry: KeyringEntry): Promise<string> {
  const { output, problem } = await run(context, keyringOf(context)('read', entry));
  if (problem === undefined && isToken(output)) return output;
  throw failedError(phrase('keyring-without-token', entry.profile, problem ?? ''), {
    hints: phrase('unlock-keyring', entry.profile),
  });
}

/** Removes the token of a profile. Returns why it may still be in the keyring; undefined if it is removed. */
export async function forgetProfile(
  context: Context,
  profile: string,
  { keyring: used, url }: Profile,
): Promise<Fact | undefined> {
  if (!used || url === undefined) return undefined;
  const entry = { profile, url };
  const keyring = keyringOf(context);
  const { problem, errors } = await run(context, keyring('remove', entry));
  if (problem === undefined || /could not be found|cannot find|not found/i.test(errors))
    return undefined;
  // `clear` of secret-tool fails also for an entry that does not exist; `search` prints an entry even if it is locked.
  const left = keyring === secretTool && (await run(context, secretTool('search', entry)));
  if (left && left.output === '' && left.errors === '') return undefined;
  return phrase('keyring-has-token', profile, problem ?? '');
}

function unusable(problem: string): CliError {
  return failedError([phrase('not-in-keyring', problem), phrase('nothing-saved')], {
    hints: phrase('keep-token-elsewhere'),
  });
}

/** Returns the output without its line end; `problem` says why the program failed. */
async function run(context: Context, program: HelperProgram, most?: number) {
  let errors = '';
  const onError = (text: string) => {
    errors += text;
  };
  // Imported only when needed, as most profiles have no token in the keyring.
  const { LIMIT_MS, runHelper } = await import('../platform/helper-program');
  const limitMs = most ?? LIMIT_MS;
  const ended = await runHelper(context, { ...program, limitMs, onError });
  const output = 'status' in ended ? ended.output.replace(/\r?\n$/, '') : '';
  return { output, errors, problem: problemOf(ended, program.words[0], errors, limitMs) };
}

function problemOf(
  ended: HelperEnd,
  name: string,
  errors: string,
  limitMs: number,
): string | undefined {
  if ('failure' in ended)
    return ended.failure === 'missing'
      ? `${name} is not installed`
      : `${name} did not answer within ${limitMs / 1000} s`;
  if (ended.status === 0) return undefined;
  const line = errors.split('\n').find((text) => text.trim() !== '') ?? '';
  const message = line.trim().slice(0, 200).replace(`${name}: `, '');
  return message === '' ? `${name} found nothing, or it is locked` : `${name}: ${message}`;
}
