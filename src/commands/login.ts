import { join } from 'node:path';
import { askUntil, filledIn, TRY_AGAIN } from '../cli/ask-until';
import { flag, operand } from '../cli/declare';
import { inWords } from '../cli/in-words';
import type { Options } from '../cli/options';
import { readAll } from '../cli/source';
import { abilities, endText, instanceText } from '../cli/terminal/instance-info';
import type { Entry } from '../cli/terminal/output';
import type { Token } from '../client/api-settings';
import { askEdition } from '../client/edition';
import { LeavesOrigin } from '../client/transport/redirects';
import { APPLICATION, toldEdition } from '../contract/api';
import type { InstanceVersion } from '../contract/decode';
import type { Edition } from '../contract/lifetime';
import type { Context } from '../platform/context';
import { CliError, type ErrorCode, phrase, usageError } from '../platform/errors';
import { readVariable } from '../platform/files/read-variable';
import { smallText } from '../platform/private-folder';
import { parseToken } from '../profile/api-token';
import { parseBase } from '../profile/base-address';
import { freeName, profileIn, profileInUse } from '../profile/config-file';
import { accountOf, clientOf, exposure, type Instance } from '../profile/connect';
import { configName, folderOf } from '../profile/folders';
import {
  checkProfileName,
  ENCRYPTS,
  movedFrom,
  type Profile,
  type StoredProfiles,
  savedSettings,
  withEncryption,
  withoutToken,
} from '../profile/settings';
import { sourcesOf } from '../profile/sources';
import { updateProfiles } from '../profile/store';
import { forgetProfile, storeInKeyring } from '../profile/system-keyring';
import { targetOf } from '../profile/target';
import help from './help/login.txt?raw';
import { command } from './planned';

const rows = {
  address: operand('[url]', 'address of the instance'),
  keyring: flag('--keyring', "keep the token in the system's keyring, not in a file").conflicts([
    'anonymous',
  ]),
};

export default command({
  description: 'Log in to an instance and save it as a profile.',
  help,
  rows,
  plan: planOf,
  run: login,
});

type LoginPlan = ReturnType<typeof planOf>;

function planOf(options: Options<typeof rows>, entry: Entry) {
  const { address, keyring, url, profile } = options;
  if (profile !== undefined) checkProfileName(profile);
  if (address !== undefined && url !== undefined)
    throw usageError('the address was given twice', 'remove --url');
  return { address: address ?? url, keyring, sources: sourcesOf(entry, options) };
}

/** Each step of a login adds properties: an address is chosen, its instance responds, and it accepts the token. */
interface Login extends LoginPlan {
  readonly stored: StoredProfiles;
  readonly base: string;
  readonly name: string;
  /** Undefined until the instance responds: some instances require a token even for the version. */
  readonly version?: InstanceVersion;
  readonly isWarned?: boolean;
  readonly token?: string | undefined;
  /** The command that printed the token; the profile stores this instead of the token. */
  readonly command?: string | undefined;
}

/** Stores nothing before the instance has responded and accepted the token. */
export async function login(entry: Entry, plan: LoginPlan): Promise<void> {
  const { context, say } = entry;
  const { stored, typed } = plan.sources;
  if (stored instanceof CliError) throw stored;
  const accepted = await chooseToken(entry, await chooseInstance(entry, plan, stored));
  const { base, name, token, version } = accepted;
  const edition = await askEdition((await instanceOf(entry, accepted)).api, version);
  accountOf({ account: typed.settings.account, edition });
  const { before, after } = await save(entry, accepted, edition);
  if (typed.settings.insecure)
    await say.note(`profile "${name}" accepts any certificate from now on`);
  const { application_version, api_version } = version;
  const shown = { application_version, api_version, edition };
  await say.print({ profile: name, url: base, token: token !== undefined, ...shown }, () => '');
  await say.note(profileText(accepted));
  if (before.token !== undefined && before.token !== after.token)
    await say.note('the token that it had before is gone; --profile NAME keeps both');
  const ends = endText(version.token, context.now());
  if (ends !== undefined) await say.warn(`the token ${ends}`);
  const encrypts = encryptionText(before, after);
  if (encrypts !== undefined) await say.note(encrypts);
  const features = abilities(version);
  await say.remark(instanceText(version) + (features === undefined ? '' : `; ${features}`));
  await say.remark(keptText(context, after));
}

/** Returns the profile `before` and `after` the login. */
async function save(entry: Entry, login: Login, edition: Edition) {
  const { context, say } = entry;
  const { base, name, token, sources } = login;
  const inKeyring = login.keyring && token !== undefined;
  if (inKeyring) await storeInKeyring(context, { profile: name, url: base }, token);
  const saved = await updateProfiles(entry, (now) => {
    const before = profileIn(now, name) ?? {};
    const kept = withoutToken(movedFrom(before.url, { ...before, url: base }));
    const typed = savedSettings(sources.typed.settings);
    const after = withEncryption({ ...kept, edition, ...tokenSetting(login), ...typed }, before);
    return { current: name, profiles: { ...now.profiles, [name]: after }, before, after };
  });
  const { before } = saved;
  if (!before.keyring || (inKeyring && before.url === base)) return saved;
  const problem = await forgetProfile(context, name, before);
  if (problem !== undefined) await say.warn(problem);
  return saved;
}

function tokenSetting({ token, command, keyring }: Login): Profile {
  if (token === undefined) return {};
  if (keyring) return { keyring };
  return command === undefined ? { token } : { 'token-command': command };
}

/** Returns a message about a change that the user did not ask for: encryption, or pages that cannot decrypt. */
function encryptionText(before: Profile, { encrypt = 'off', edition, url }: Profile) {
  if (encrypt !== (before.encrypt ?? 'off')) return ENCRYPTS;
  if (encrypt === 'off' || edition === 'pwpush' || before.url === undefined || before.url === url)
    return undefined;
  return `pushes are still encrypted (encrypt = ${encrypt}), but the pages of this instance cannot decrypt: recipients need pwpush get`;
}

function keptText(context: Context, profile: Profile): string {
  if (profile.keyring) return "the token is in the system's keyring";
  if (profile['token-command'] !== undefined) return 'the command is saved, not the token';
  if (profile.token === undefined) return 'no token is saved';
  const path = join(folderOf('config', context), configName);
  return `the token is in ${path}, which only you can read (--keyring: in the system's keyring)`;
}

function profileText({ name, token, stored: { current } }: Login): string {
  const saved = `saved as profile "${name}"`;
  const first = token === undefined ? `${saved}, without a token` : `logged in; ${saved}`;
  if (current === undefined || current === name) return first;
  return `${first}, now the default (switch back: pwpush profile use ${current})`;
}

/** Takes the instance from the command line, else the environment, else the profile in use, else a prompt. */
async function chooseInstance(
  entry: Entry,
  plan: LoginPlan,
  stored: StoredProfiles,
): Promise<Login> {
  const { context, say } = entry;
  const { sources } = plan;
  const loginAt = (address: string): Login => {
    const base = parseBase(address);
    return { ...plan, stored, base, name: nameFor(base, stored, sources.profile) };
  };
  const { name, profile } = sources.inUse;
  const known = profile?.url;
  const isNamed = sources.profile !== undefined && known !== undefined;
  const chosen = plan.address ?? (isNamed ? undefined : sources.env.settings.url);
  const address = chosen ?? known;
  if (!context.canPrompt()) {
    if (address !== undefined) return loginAt(address);
    throw usageError('no instance address given', 'run pwpush login https://pwpush.example');
  }
  if (chosen === undefined && known !== undefined)
    await say.remark(`profile "${name}" at ${known}; for another instance: pwpush login URL`);
  if (address !== undefined) return responding(entry, loginAt, address);
  const prompter = await context.prompter();
  const question = 'Address of the instance, such as https://eu.pwpush.com:';
  return retryPrompt(entry, ['usage', 'unreachable', 'not_found', 'failed'], async () =>
    responding(entry, loginAt, await filledIn(question, prompter.text)),
  );
}

/** Asks again after an error with one of the `retryable` codes. Does not report the same reason twice in a row. */
function retryPrompt<T>(
  { context, say }: Entry,
  retryable: readonly ErrorCode[],
  ask: (isRetry: boolean) => Promise<T>,
): Promise<T> {
  let reported: string | undefined;
  return askUntil(
    async (failure) => {
      const reason = failure instanceof CliError ? await inWords(failure) : undefined;
      if (reason !== undefined && reason !== reported) await say.announce(reason);
      reported = reason;
      return ask(failure !== undefined);
    },
    (failure) =>
      failure instanceof CliError && retryable.includes(failure.code) && !context.signal.aborted,
  );
}

/** Checks that the instance responds. If it redirects, such as to a region, offers to log in at that address. */
async function responding(
  entry: Entry,
  loginAt: (address: string) => Login,
  address: string,
): Promise<Login> {
  const login = loginAt(address);
  try {
    return await check(entry, login);
  } catch (error) {
    // Some instances require a token even for the version.
    if (error instanceof CliError && error.code === 'unauthorized')
      return { ...login, isWarned: true };
    if (!(error instanceof LeavesOrigin)) throw error;
    const { host } = new URL(login.base);
    const question = `${host} redirects to ${error.base}. Log in there?`;
    if (!(await (await entry.context.prompter()).confirm(question, true))) throw error;
    return loginAt(error.base);
  }
}

type Responding = Login & Required<Pick<Login, 'version'>>;

/**
 * Takes the token from `--token-file`, else standard input, else the environment if its token is for this instance,
 * else a prompt.
 */
async function chooseToken(entry: Entry, login: Login): Promise<Responding> {
  const { context } = entry;
  if (login.sources.anonymous) return check(entry, login);
  const token = await knownToken(context, login);
  if (typeof token === 'object')
    throw usageError(
      'login saves no token that a job gets by its identity',
      'use --anonymous to save the address, then pwpush profile set NAME token-from ci',
    );
  if (typeof token === 'function') {
    const command = readVariable(context.env, 'PWPUSH_TOKEN_COMMAND');
    return check(entry, { ...login, token: await token(), command });
  }
  if (token !== undefined) return check(entry, { ...login, token });
  if (!context.canPrompt()) {
    throw usageError(
      'no token given, and no terminal to ask on',
      'pipe it in, use --token-file PATH, or use --anonymous to log in without one',
    );
  }
  const prompter = await context.prompter();
  return retryPrompt(entry, ['usage', 'unauthorized'], async (isRetry) => {
    const question = isRetry
      ? TRY_AGAIN
      : isOurs(login.version)
        ? 'API token (pwpush serve token add, or ask who runs it):'
        : 'API token (on your account page, under API):';
    const token = parseToken(await filledIn(question, prompter.secret));
    return check(entry, { ...login, token });
  });
}

async function knownToken(
  { stdin }: Context,
  { base, sources: { typed, env } }: Login,
): Promise<Token | undefined> {
  if (typed.token !== undefined) return typed.token.read();
  if (!stdin.isTTY) {
    const piped = smallText(await readAll(stdin.bytes()), 'standard input');
    if (piped.trim() !== '') return parseToken(piped, 'standard input');
  }
  const { url } = env.settings;
  return url === undefined || parseBase(url) === base ? env.token?.read() : undefined;
}

/** The client sends only the token of the login, never one of the profile. */
async function instanceOf(
  entry: Entry,
  { base, name, stored, sources, token }: Login,
): Promise<Instance> {
  const profile = profileIn(stored, name) && name;
  const { settings } = sources.typed;
  const target = targetOf({
    ...sources,
    profile,
    inUse: profileInUse(stored, {}, profile),
    anonymous: token === undefined,
    typed: {
      ...sources.typed,
      settings: { ...settings, url: base },
      token: token === undefined ? undefined : { from: '', read: async () => token },
    },
  });
  return { target, api: await clientOf(entry, target) };
}

/** Returns whether the instance is `pwpush serve`, which has no accounts. */
const isOurs = (version: InstanceVersion | undefined) =>
  version !== undefined && toldEdition(version) === APPLICATION;

/**
 * Requests the version once, and once more if our own service can say of a token that it is valid. Another instance shows
 * that by listing active pushes.
 */
async function check(entry: Entry, login: Login): Promise<Responding> {
  const { target, api } = await instanceOf(entry, login);
  const warning = login.isWarned ? undefined : exposure(target);
  if (warning !== undefined) await entry.say.warn(warning);
  let { version } = login;
  try {
    if (version === undefined || (login.token !== undefined && isOurs(version)))
      version = await api.version();
    if (login.token !== undefined && !version.token) await api.list('active', 1);
    return { ...login, version, isWarned: true };
  } catch (error) {
    if (error instanceof LeavesOrigin)
      throw error.withAdvice((base) => phrase('log-in-there', base));
    const isRefused = error instanceof CliError && error.code === 'unauthorized';
    if (!isRefused || login.token === undefined) throw error;
    throw error.with({
      facts: [...error.facts, phrase('nothing-saved')],
      hints: phrase(isOurs(version) ? 'ask-for-token' : 'copy-token'),
    });
  }
}

/** Returns the typed profile, else that with this address, else a free name: `default`, or one of the host. */
function nameFor(base: string, stored: StoredProfiles, typed: string | undefined): string {
  if (typed !== undefined) return typed;
  const same = Object.entries(stored.profiles).find(([, profile]) => profile.url === base);
  if (same) return same[0];
  // The host of an IPv6 address has brackets, and a name that begins with a dash would be an option.
  const host = new URL(base).host.replace(/[^\w.]+/g, '-').replace(/^-/, '');
  return profileIn(stored, 'default') ? freeName(stored, host) : 'default';
}
