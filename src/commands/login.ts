import { join } from 'node:path';
import { askUntil, filledIn, TRY_AGAIN } from '../cli/ask-until';
import { flag, operand } from '../cli/declare';
import { inWords } from '../cli/in-words';
import type { Options } from '../cli/options';
import { readAll } from '../cli/source';
import { abilities, editionOf } from '../cli/terminal/instance-info';
import type { Entry } from '../cli/terminal/output';
import { askEdition } from '../client/edition';
import { LeavesOrigin } from '../client/transport/redirects';
import { APPLICATION, toldEdition } from '../contract/api';
import type { InstanceVersion } from '../contract/decode';
import type { Edition } from '../contract/lifetime';
import type { Context, Token } from '../platform/context';
import { CliError, type ErrorCode, phrase, usageError } from '../platform/errors';
import { smallText } from '../platform/private-folder';
import { parseToken } from '../profile/api-token';
import { parseBase } from '../profile/base-address';
import { profileIn, profileInUse } from '../profile/config-file';
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
import { type Sources, targetOf } from '../profile/target';
import help from './help/login.txt?raw';
import { command } from './planned';

const rows = {
  address: operand('[url]', 'address of the instance'),
  keyring: flag('--keyring', "keep the token in the system's keyring, not in a file").conflicts([
    'anonymous',
  ]),
};

/** Where to log in, and where the token is kept. */
interface LoginPlan {
  /** As it was typed. */
  readonly address: string | undefined;
  readonly keyring: boolean;
  readonly sources: Sources;
}

export default command({
  description: 'Log in to an instance and save it as a profile.',
  help,
  rows,
  plan: planOf,
  run: login,
});

function planOf(options: Options<typeof rows>, entry: Entry): LoginPlan {
  const { address, keyring, url, profile } = options;
  if (profile !== undefined) checkProfileName(profile);
  if (address !== undefined && url !== undefined)
    throw usageError('the address was given twice', 'remove --url');
  return { address: address ?? url, keyring, sources: sourcesOf(entry, options) };
}

/** A login, which grows: the instance responds, then it accepts the token. */
interface Login extends Omit<LoginPlan, 'address'> {
  readonly base: string;
  readonly stored: StoredProfiles;
  /** The name of its profile. */
  readonly name: string;
  /** Undefined until it responds: an instance may require a token for everything. */
  readonly version?: InstanceVersion;
  /** The person was warned of what others can read. */
  readonly isWarned?: boolean;
  readonly token?: string | undefined;
  /** The command that printed it, which is saved in its place. */
  readonly command?: string | undefined;
}

/** Stores nothing before the instance has responded and accepted the token. */
export async function login(entry: Entry, plan: LoginPlan): Promise<void> {
  const { context, say } = entry;
  const { sources } = plan;
  if (sources.stored instanceof CliError) throw sources.stored;
  const responding = await chooseInstance(entry, plan, sources.stored);
  const accepted = await chooseToken(entry, responding);
  const { base, name, stored, token, version } = accepted;
  const edition = await askEdition((await instanceOf(entry, accepted, token)).api, version);
  accountOf({ account: sources.typed.settings.account, edition });
  const { before, after } = await save(entry, accepted, edition);
  if (sources.typed.settings.insecure)
    await say.note(`profile "${name}" accepts any certificate from now on`);
  const { application_version, api_version } = version;
  const shown = { application_version, api_version, edition: version.edition };
  const isLoggedIn = token !== undefined;
  await say.print({ profile: name, url: base, token: isLoggedIn, ...shown }, () => '');
  await say.note(savedText(name, isLoggedIn, stored.current));
  if (before.token !== undefined && before.token !== after.token)
    await say.note('the token that it had before is gone; --profile NAME keeps both');
  const encrypts = encryptionText(before, after);
  if (encrypts !== undefined) await say.note(encrypts);
  const features = abilities(version);
  await say.remark(editionOf(version) + (features === undefined ? '' : `; ${features}`));
  await say.remark(keptText(context, after));
}

/** Saves the profile; returns it as it was and as it is. */
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

/** What the user has not asked for: pushes that are encrypted from now on, or still are at an instance of another kind. */
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

function savedText(name: string, loggedIn: boolean, before: string | undefined): string {
  const saved = `saved as profile "${name}"`;
  const first = loggedIn ? `logged in; ${saved}` : `${saved}, without a token`;
  if (before === undefined || before === name) return first;
  return `${first}, now the default (switch back: pwpush profile use ${before})`;
}

/** From the command line, else the environment, else of the profile in use, else from a prompt. */
async function chooseInstance(
  entry: Entry,
  { address, keyring, sources }: LoginPlan,
  stored: StoredProfiles,
): Promise<Login> {
  const { context, say } = entry;
  const begun = (text: string): Login => {
    const base = parseBase(text);
    return { base, keyring, stored, sources, name: nameFor(base, stored, sources.profile) };
  };
  const { name, profile } = sources.inUse;
  const known = profile?.url;
  const isNamed = sources.profile !== undefined && known !== undefined;
  const given = address ?? (isNamed ? undefined : sources.env.settings.url);
  const found = given ?? known;
  if (!context.canPrompt()) {
    if (found !== undefined) return begun(found);
    throw usageError('no instance address given', 'run pwpush login https://pwpush.example');
  }
  if (given === undefined && known !== undefined)
    await say.remark(`profile "${name}" at ${known}; for another instance: pwpush login URL`);
  if (found !== undefined) return responding(entry, begun(found), begun);
  const prompter = await context.prompter();
  const question = 'Address of the instance, such as https://eu.pwpush.com:';
  return retryPrompt(entry, ['usage', 'unreachable', 'not_found', 'failed'], async () =>
    responding(entry, begun(await filledIn(question, prompter.text)), begun),
  );
}

/** Asks again after an input that fails with one of these codes; says the reason where it is not the one before. */
function retryPrompt<T>(
  { context, say }: Entry,
  retryable: readonly ErrorCode[],
  ask: (again: boolean) => Promise<T>,
): Promise<T> {
  let said: string | undefined;
  return askUntil(
    async (failure) => {
      const reason = failure instanceof CliError ? await inWords(failure) : undefined;
      if (reason !== undefined && reason !== said) await say.announce(reason);
      said = reason;
      return ask(failure !== undefined);
    },
    (failure) =>
      failure instanceof CliError && retryable.includes(failure.code) && !context.signal.aborted,
  );
}

/**
 * An instance that responds; offers the address that it redirects to, which may be that of a region.
 * @param begun begins the login at another address
 */
async function responding(
  entry: Entry,
  login: Login,
  begun: (address: string) => Login,
): Promise<Login> {
  try {
    return await checked(entry, login, undefined);
  } catch (error) {
    // An instance may require a token for everything.
    if (error instanceof CliError && error.code === 'unauthorized')
      return { ...login, isWarned: true };
    if (!(error instanceof LeavesOrigin)) throw error;
    const { host } = new URL(login.base);
    const question = `${host} redirects to ${error.base}. Log in there?`;
    if (!(await (await entry.context.prompter()).confirm(question, true))) throw error;
    return begun(error.base);
  }
}

type Responding = Login & Required<Pick<Login, 'version'>>;

/** From `--token-file`, else standard input, else the environment if its token is for that instance, else a prompt. */
async function chooseToken(entry: Entry, login: Login): Promise<Responding> {
  const { context } = entry;
  if (login.sources.anonymous) return checked(entry, login, undefined);
  const given = await givenToken(context, login);
  if (typeof given === 'function') {
    const command = context.env.PWPUSH_TOKEN_COMMAND;
    return { ...(await checked(entry, login, await given())), command };
  }
  if (given !== undefined) return checked(entry, login, given);
  if (!context.canPrompt()) {
    throw usageError(
      'no token given, and no terminal to ask on',
      'pipe it in, use --token-file PATH, or use --anonymous to log in without one',
    );
  }
  const prompter = await context.prompter();
  return retryPrompt(entry, ['usage', 'unauthorized'], async (again) => {
    const question = again
      ? TRY_AGAIN
      : isOurs(login.version)
        ? 'API token (pwpush serve token add, or ask who runs it):'
        : 'API token (on your account page, under API):';
    return checked(entry, login, parseToken(await filledIn(question, prompter.secret)));
  });
}

async function givenToken(
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

/** The instance that the user is about to log in to, by its profile and what was typed, with that token alone. */
async function instanceOf(
  entry: Entry,
  { base, name, stored, sources }: Login,
  token: string | undefined,
): Promise<Instance> {
  const profile = profileIn(stored, name) && name;
  const { typed } = sources;
  const target = targetOf({
    ...sources,
    profile,
    inUse: profileInUse(stored, {}, profile),
    anonymous: token === undefined,
    typed: {
      ...typed,
      settings: { ...typed.settings, url: base },
      token: token === undefined ? undefined : { from: '', read: async () => token },
    },
  });
  return { target, api: await clientOf(entry, target) };
}

/** Whether an instance has said that it is `pwpush serve`, which has no accounts. */
const isOurs = (version: InstanceVersion | undefined) =>
  version !== undefined && toldEdition(version) === APPLICATION;

/** Asks for the version once, then, with a token, for a page of active pushes, which requires a valid token. */
async function checked(entry: Entry, login: Login, token: string | undefined): Promise<Responding> {
  const { target, api } = await instanceOf(entry, login, token);
  const warning = login.isWarned ? undefined : exposure(target);
  if (warning !== undefined) await entry.say.warn(warning);
  let { version } = login;
  try {
    version ??= await api.version();
    if (token !== undefined) await api.list('active', 1);
    return { ...login, version, token, isWarned: true };
  } catch (error) {
    if (error instanceof LeavesOrigin)
      throw error.withAdvice((base) => phrase('log-in-there', base));
    throw token === undefined ? error : notStored(error, isOurs(version));
  }
}

function notStored(error: unknown, isOurs: boolean): unknown {
  if (!(error instanceof CliError) || error.code !== 'unauthorized') return error;
  return error.with({
    facts: [phrase('token-refused', ''), phrase('nothing-saved')],
    steps: phrase(isOurs ? 'ask-for-token' : 'copy-token'),
  });
}

/** The profile that was named, else the one with that address, else `default`, else the name of the host. */
function nameFor(base: string, stored: StoredProfiles, named: string | undefined): string {
  if (named !== undefined) return named;
  const same = Object.entries(stored.profiles).find(([, profile]) => profile.url === base);
  if (same) return same[0];
  return profileIn(stored, 'default') ? new URL(base).host.replace(/[^\w.-]/g, '-') : 'default';
}
