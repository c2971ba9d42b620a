import { resolve } from 'node:path';
import { Command } from 'commander';
import type { InstanceVersion } from '../api/contract';
import { clientFor, wishesOf } from '../connect';
import type { Context } from '../context';
import { CliError, usageError } from '../errors';
import { addGlobalOptions, type GlobalOptions, optionsOf } from '../options';
import { configFolder } from '../profile/place';
import {
  chooseTarget,
  type Profile,
  parseBase,
  profileName,
  type StoredProfiles,
  type Wishes,
} from '../profile/profile';
import { readProfiles } from '../profile/read';
import { checkProfileName, withoutTrust } from '../profile/settings';
import { parseToken } from '../profile/token';
import { readAll } from '../secret/source';
import { terminal } from '../terminal/output';

interface LoginOptions extends GlobalOptions {
  readonly address?: string;
}

const EXAMPLES = `
The token is asked for, hidden, or read from --token-file or standard input; it
is kept only if the instance takes it. Most instances show it on the account
page, under API.

Examples:
  $ pwpush login https://pwpush.example
  $ pwpush login https://pwpush.example --profile work --token-file token.txt
  $ pass show pwpush | pwpush login https://pwpush.example`;

export function loginCommand(context: Context): Command {
  const command = new Command('login')
    .description('Check an instance and a token, and keep them as a profile.')
    .argument('[url]', 'address of the instance')
    .addHelpText('after', EXAMPLES)
    .action((address: string | undefined) => {
      const options = optionsOf(command, context.env, {});
      return login(context, address === undefined ? options : { ...options, address });
    });
  return addGlobalOptions(command);
}

/** Nothing is stored before the instance has answered and taken the token. */
export async function login(context: Context, options: LoginOptions): Promise<void> {
  if (options.profile !== undefined) checkProfileName(options.profile);
  const stored = readProfiles(configFolder(context));
  const wishes = wishesOf(context, options);
  const base = parseBase(await addressOf(context, options, stored, wishes));
  const token = options.anonymous ? undefined : await tokenOf(context, wishes, base);
  const name = nameFor(base, stored, options.profile);
  const version = await check(context, options, stored, {
    ...wishes,
    profile: Object.hasOwn(stored.profiles, name) ? name : undefined,
    url: base,
    token,
    anonymous: token === undefined,
    env: { caFile: wishes.env.caFile },
  });
  const store = await context.profiles();
  await store.update((now) => remember(now, name, base, token, options));
  const say = terminal(context, options);
  if (options.insecure) await say.note(`profile "${name}" accepts any certificate from now on`);
  await say.print(
    { profile: name, url: base, token: token !== undefined, ...aboutInstance(version) },
    () => `${base} is now profile "${name}"${token === undefined ? ', without a token' : ''}\n`,
  );
}

const aboutInstance = ({ application_version, api_version, edition }: InstanceVersion) => ({
  application_version,
  api_version,
  edition,
});

async function addressOf(
  context: Context,
  options: LoginOptions,
  stored: StoredProfiles,
  wishes: Wishes,
): Promise<string> {
  if (options.address !== undefined && options.url !== undefined)
    throw usageError('the address was given twice', 'leave --url out');
  const name = profileName(stored, wishes);
  const known =
    name !== undefined && Object.hasOwn(stored.profiles, name)
      ? stored.profiles[name]?.url
      : undefined;
  const given =
    options.address ?? options.url ?? (options.profile === undefined ? wishes.env.url : undefined);
  if (given !== undefined) return given;
  if (!context.canPrompt()) {
    if (known !== undefined) return known;
    throw usageError('which instance?', 'give its address: pwpush login https://pwpush.example');
  }
  return (await context.prompter()).text('Address of the instance:', known);
}

/** `--token-file`, then standard input, then the environment's token if it belongs there, then a prompt. */
async function tokenOf(context: Context, wishes: Wishes, base: string): Promise<string> {
  if (wishes.token !== undefined) return wishes.token;
  if (!context.stdin.isTTY) {
    const piped = (await readAll(context.stdin.bytes())).toString('utf8');
    if (piped.trim() !== '') return parseToken(piped, 'standard input');
  }
  const { url } = wishes.env;
  const token = url === undefined || parseBase(url) === base ? wishes.env.token?.() : undefined;
  if (token !== undefined) return token;
  if (!context.canPrompt()) {
    throw usageError(
      'there is no token, and nobody to ask for it',
      'pipe it in, use --token-file PATH, or log in without one: --anonymous',
    );
  }
  return parseToken(await (await context.prompter()).secret('API token:'), 'the prompt');
}

/** Asks for the version, then, with a token, for a page of active pushes, which only a good token gets. */
async function check(
  context: Context,
  options: LoginOptions,
  stored: StoredProfiles,
  wishes: Wishes,
): Promise<InstanceVersion> {
  const target = chooseTarget(stored, wishes);
  const api = await clientFor(context, options, target);
  try {
    const version = await api.version();
    if (target.token !== undefined) await api.list('active', 1);
    return version;
  } catch (error) {
    if (!(error instanceof CliError) || error.code !== 'unauthorized' || target.token === undefined)
      throw error;
    throw new CliError('unauthorized', 'the instance refused the token; nothing was stored', {
      status: error.status,
      hint: 'copy the token again from the account page of the instance',
      cause: error,
    });
  }
}

/** The profile that was named, else the one of that address, else `default`, else the host's name. */
function nameFor(base: string, stored: StoredProfiles, named: string | undefined): string {
  if (named !== undefined) return named;
  const same = Object.entries(stored.profiles).find(([, profile]) => profile.url === base);
  if (same) return same[0];
  return Object.hasOwn(stored.profiles, 'default')
    ? new URL(base).host.replace(/[^\w.-]/g, '-')
    : 'default';
}

function remember(
  stored: StoredProfiles,
  name: string,
  base: string,
  token: string | undefined,
  options: LoginOptions,
): StoredProfiles {
  const before = stored.profiles[name] ?? {};
  const { token: _old, ...kept } = before.url === base ? before : withoutTrust(before);
  const profile: Profile = {
    ...kept,
    url: base,
    ...(token === undefined ? {} : { token }),
    ...(options.caFile === undefined ? {} : { 'ca-file': resolve(options.caFile) }),
    ...(options.insecure ? { insecure: true } : {}),
  };
  return { current: name, profiles: { ...stored.profiles, [name]: profile } };
}
