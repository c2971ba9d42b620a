import { resolve } from 'node:path';
import type { Context } from './context';
import type { InstanceVersion } from './contract';
import { CliError, type ErrorCode, usageError } from './errors';
import { readAll } from './input/source';
import type { GlobalOptions } from './options';
import { configFolder } from './profile/folders';
import { type Profile, profileName, readProfiles, type StoredProfiles } from './profile/profile';
import { checkProfileName, withoutTrust } from './profile/settings';
import { chooseTarget, parseBase, type TargetRequest } from './profile/target';
import { parseToken } from './profile/token-file';
import { clientFor, warnIfReadable, wishesOf } from './session';
import { abilities, editionOf } from './terminal/instance-info';
import { type Terminal, terminal } from './terminal/output';

export interface LoginOptions extends GlobalOptions {
  readonly address?: string;
}

/** Nothing is stored before the instance has answered and taken the token. */
export async function login(
  context: Context,
  options: LoginOptions,
  wishes = wishesOf(context, options),
): Promise<void> {
  if (options.profile !== undefined) checkProfileName(options.profile);
  const stored = readProfiles(configFolder(context));
  const say = terminal(context, options);
  const candidate = (base: string) => candidateAt(base, context, options, stored, wishes);
  const chosen = await addressOf(context, options, stored, wishes, candidate);
  const { base } = chosen;
  const { token, version } = await tokenOf(context, options, wishes, chosen);
  const name = nameFor(base, stored, options.profile);
  const store = await context.profiles();
  await store.update((now) => remember(now, name, base, token, options));
  if (options.insecure) await say.note(`profile "${name}" accepts any certificate from now on`);
  await say.print(
    { profile: name, url: base, token: token !== undefined, ...aboutInstance(version) },
    () => `${base} is now profile "${name}"${token === undefined ? ', without a token' : ''}\n`,
  );
  if (stored.current !== undefined && stored.current !== name)
    await say.remark(
      `it is in use instead of "${stored.current}": pwpush profile use changes that`,
    );
  const can = abilities(version);
  await say.remark(editionOf(version) + (can === undefined ? '' : `: ${can}`));
}

const aboutInstance = ({ application_version, api_version, edition }: InstanceVersion) => ({
  application_version,
  api_version,
  edition,
});

/** How often somebody is asked. */
const TRIES = 3;

/** Asks again after an answer that does not do, with the reason. */
async function insist<T>(
  context: Context,
  say: Terminal,
  wrong: readonly ErrorCode[],
  ask: (again: boolean) => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await ask(tries > 1);
    } catch (error) {
      const again = error instanceof CliError && wrong.includes(error.code) && tries < TRIES;
      if (!again || context.signal.aborted) throw error;
      await say.tell(error.message);
    }
  }
}

async function addressOf(
  context: Context,
  options: LoginOptions,
  stored: StoredProfiles,
  wishes: TargetRequest,
  candidate: (base: string) => Candidate,
): Promise<Candidate> {
  if (options.address !== undefined && options.url !== undefined)
    throw usageError('the address was given twice', 'leave --url out');
  const name = profileName(stored, wishes);
  const known =
    name !== undefined && Object.hasOwn(stored.profiles, name)
      ? stored.profiles[name]?.url
      : undefined;
  const given =
    options.address ?? options.url ?? (options.profile === undefined ? wishes.env.url : undefined);
  if (given !== undefined) return candidate(parseBase(given));
  if (!context.canPrompt()) {
    if (known !== undefined) return candidate(parseBase(known));
    throw usageError('which instance?', 'give its address: pwpush login https://pwpush.example');
  }
  const prompter = await context.prompter();
  const wrong = ['usage', 'unreachable', 'not_found', 'failed'] as const;
  return insist(context, terminal(context, options), wrong, async () => {
    const typed = candidate(parseBase(await prompter.text('Address of the instance:', known)));
    await typed.check(undefined).catch((error) => {
      // An instance may want a token for everything.
      if (!(error instanceof CliError) || error.code !== 'unauthorized') throw error;
    });
    return typed;
  });
}

interface Accepted {
  readonly token: string | undefined;
  readonly version: InstanceVersion;
}

/** `--token-file`, then standard input, then the environment's token if it belongs there, then a prompt. */
async function tokenOf(
  context: Context,
  options: LoginOptions,
  wishes: TargetRequest,
  { base, check }: Candidate,
): Promise<Accepted> {
  const accepted = async (token: string | undefined) => ({ token, version: await check(token) });
  if (options.anonymous) return accepted(undefined);
  const given = await givenToken(context, wishes, base);
  if (given !== undefined) return accepted(given);
  if (!context.canPrompt()) {
    throw usageError(
      'there is no token, and nobody to ask for it',
      'pipe it in, use --token-file PATH, or log in without one: --anonymous',
    );
  }
  const prompter = await context.prompter();
  return insist(context, terminal(context, options), ['usage', 'unauthorized'], async (again) => {
    const typed = await prompter.secret(again ? 'Wrong. API token:' : 'API token:');
    return accepted(parseToken(typed, 'the prompt'));
  });
}

async function givenToken(
  context: Context,
  wishes: TargetRequest,
  base: string,
): Promise<string | undefined> {
  if (wishes.token !== undefined) return wishes.token();
  if (!context.stdin.isTTY) {
    const piped = (await readAll(context.stdin.bytes())).toString('utf8');
    if (piped.trim() !== '') return parseToken(piped, 'standard input');
  }
  const { url } = wishes.env;
  return url === undefined || parseBase(url) === base ? wishes.env.token?.() : undefined;
}

/** An instance that somebody is about to log in to. */
interface Candidate {
  readonly base: string;
  /** Asks for the version until it has it; then, with a token, for a page of active pushes, which only a good token gets. */
  check(token: string | undefined): Promise<InstanceVersion>;
}

function candidateAt(
  base: string,
  context: Context,
  options: LoginOptions,
  stored: StoredProfiles,
  wishes: TargetRequest,
): Candidate {
  const name = nameFor(base, stored, options.profile);
  const profile = Object.hasOwn(stored.profiles, name) ? name : undefined;
  const env = { caFile: wishes.env.caFile };
  let warned = false;
  let version: InstanceVersion | undefined;
  const check = async (token: string | undefined) => {
    const sent = { token: async () => token ?? '', anonymous: token === undefined };
    const target = await chooseTarget(stored, { ...wishes, profile, url: base, env, ...sent });
    if (!warned) await warnIfReadable(context, options, target);
    warned = true;
    const api = await clientFor(context, options, target);
    try {
      version ??= await api.version();
      if (token !== undefined) await api.list('active', 1);
      return version;
    } catch (error) {
      throw token === undefined ? error : notStored(error);
    }
  };
  return { base, check };
}

function notStored(error: unknown): unknown {
  if (!(error instanceof CliError) || error.code !== 'unauthorized') return error;
  return new CliError('unauthorized', 'the instance refused the token; nothing was stored', {
    status: error.status,
    hint: 'copy the token again from the account page of the instance',
    cause: error,
  });
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
