import { join } from 'node:path';
import { askUntil, filledIn, TRY_AGAIN } from '../cli/ask-until';
import { flag, operand } from '../cli/declare';
import { inWords } from '../cli/in-words';
import type { Options } from '../cli/options';
import { readAll } from '../cli/source';
import { abilities, editionOf } from '../cli/terminal/instance-info';
import { askEdition } from '../client/edition';
import { LeavesOrigin } from '../client/transport/redirects';
import { APPLICATION, toldEdition } from '../contract/api';
import type { InstanceVersion } from '../contract/decode';
import type { Edition } from '../contract/lifetime';
import type { Token } from '../platform/context';
import { CliError, type ErrorCode, phrase, usageError } from '../platform/errors';
import { smallText } from '../platform/small-text';
import { parseToken } from '../profile/api-token';
import { parseBase } from '../profile/base-address';
import { profileIn, storedProfiles } from '../profile/config-file';
import { accountOf, exposure } from '../profile/connect';
import { configName, folderOf } from '../profile/folders';
import { profileStore } from '../profile/profile-store';
import type { Session } from '../profile/session';
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
import { forgetProfile, storeInKeyring } from '../profile/system-keyring';
import { chooseTarget } from '../profile/target';
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
}

export default command({
  description: 'Log in to an instance and save it as a profile.',
  help,
  rows,
  plan: planOf,
  run: login,
});

function planOf({ address, keyring, url, profile }: Options<typeof rows>): LoginPlan {
  if (profile !== undefined) checkProfileName(profile);
  if (address !== undefined && url !== undefined)
    throw usageError('the address was given twice', 'remove --url');
  return { address: address ?? url, keyring };
}

/** Stores nothing before the instance has responded and accepted the token. */
export async function login(session: Session, { address, keyring }: LoginPlan): Promise<void> {
  const { context, given, say } = session;
  const stored = storedProfiles(context);
  const candidate = await chooseInstance(session, stored, address);
  const { base } = candidate;
  const accepted = await chooseToken(session, candidate);
  const { version } = accepted;
  const token = accepted.token !== undefined;
  const name = nameFor(base, stored, given.profile);
  const found = { ...accepted, base, edition: await candidate.learn(accepted), keyring };
  const { before, after } = await keep(session, name, found);
  if (given.settings.insecure)
    await say.note(`profile "${name}" accepts any certificate from now on`);
  const { application_version, api_version, edition } = version;
  const told = { profile: name, url: base, token, application_version, api_version, edition };
  await say.print(told, () => '');
  await say.note(savedText(name, token, stored.current));
  if (before.token !== undefined && before.token !== after.token)
    await say.note('the token that it had before is gone; --profile NAME keeps both');
  const encrypts = encryptionText(before, after);
  if (encrypts !== undefined) await say.note(encrypts);
  const features = abilities(version);
  await say.remark(editionOf(version) + (features === undefined ? '' : `; ${features}`));
  await say.remark(keptText(session, found));
}

/** Saves the profile; returns it as it was and as it is. */
async function keep(session: Session, name: string, login: Login) {
  const { context, given, say } = session;
  const { base, token } = login;
  const inKeyring = login.keyring && token !== undefined;
  if (inKeyring) await storeInKeyring(context, { profile: name, url: base }, token);
  const store = await profileStore(session);
  let before: Profile = {};
  const stored = await store.update((now) => {
    before = profileIn(now, name) ?? {};
    return withLogin(now, name, login, given.settings);
  });
  const saved = { before, after: profileIn(stored, name) ?? {} };
  if (!before.keyring || (inKeyring && before.url === base)) return saved;
  const problem = await forgetProfile(context, name, before);
  if (problem !== undefined) await say.warn(problem);
  return saved;
}

/** What the user has not asked for: pushes that are encrypted from now on, or still are at an instance of another kind. */
function encryptionText(before: Profile, { encrypt = 'off', edition, url }: Profile) {
  if (encrypt !== (before.encrypt ?? 'off')) return ENCRYPTS;
  if (encrypt === 'off' || edition === 'pwpush' || before.url === undefined || before.url === url)
    return undefined;
  return `pushes are still encrypted (encrypt = ${encrypt}), but the pages of this instance cannot decrypt: recipients need pwpush get`;
}

function keptText({ context }: Session, { token, command, keyring }: Login): string {
  if (token === undefined) return 'no token is saved';
  if (keyring) return "the token is in the system's keyring";
  if (command !== undefined) return 'the command is saved, not the token';
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
  session: Session,
  stored: StoredProfiles,
  address: string | undefined,
): Promise<Candidate> {
  const { context, say, sources } = session;
  const { profile, envProfile, env } = sources();
  const candidate = (address: string) => candidateAt(session, stored, parseBase(address));
  const name = profile ?? envProfile ?? stored.current;
  const known = name === undefined ? undefined : profileIn(stored, name)?.url;
  const given =
    address ?? (profile === undefined || known === undefined ? env.settings.url : undefined);
  if (!context.canPrompt()) {
    const only = given ?? known;
    if (only !== undefined) return candidate(only);
    throw usageError('no instance address given', 'run pwpush login https://pwpush.example');
  }
  if (given !== undefined) return checked(session, given, candidate);
  if (known !== undefined) {
    await say.remark(`profile "${name}" at ${known}; for another instance: pwpush login URL`);
    return checked(session, known, candidate);
  }
  const prompter = await context.prompter();
  const question = 'Address of the instance, such as https://eu.pwpush.com:';
  return retryPrompt(session, ['usage', 'unreachable', 'not_found', 'failed'], async () => {
    const typed = await filledIn(question, prompter.text);
    return checked(session, typed, candidate);
  });
}

/** Asks again after an input that fails with one of these codes; says the reason where it is not the one before. */
function retryPrompt<T>(
  { context, say }: Session,
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

/** An instance that responds; offers the address that it redirects to, which may be that of a region. */
async function checked(
  { context }: Session,
  address: string,
  candidate: (address: string) => Candidate,
): Promise<Candidate> {
  const instance = candidate(address);
  try {
    await instance.check(undefined);
    return instance;
  } catch (error) {
    // An instance may require a token for everything.
    if (error instanceof CliError && error.code === 'unauthorized') return instance;
    if (!(error instanceof LeavesOrigin)) throw error;
    const { host } = new URL(instance.base);
    const question = `${host} redirects to ${error.base}. Log in there?`;
    if (!(await (await context.prompter()).confirm(question, true))) throw error;
    return candidate(error.base);
  }
}

interface Accepted {
  readonly token: string | undefined;
  /** The command that printed it, which is saved in its place. */
  readonly command?: string | undefined;
  readonly version: InstanceVersion;
}

interface Login extends Accepted {
  readonly base: string;
  readonly edition: Edition;
  /** Whether the token goes to the keyring. */
  readonly keyring: boolean;
}

/** From `--token-file`, else standard input, else the environment if its token is for that instance, else a prompt. */
async function chooseToken(
  session: Session,
  { base, check, isOurs }: Candidate,
): Promise<Accepted> {
  const { context, given: typed } = session;
  const accepted = async (token: string | undefined) => ({ token, version: await check(token) });
  if (typed.anonymous) return accepted(undefined);
  const given = await givenToken(session, base);
  if (typeof given === 'function')
    return { ...(await accepted(await given())), command: context.env.PWPUSH_TOKEN_COMMAND };
  if (given !== undefined) return accepted(given);
  if (!context.canPrompt()) {
    throw usageError(
      'no token given, and no terminal to ask on',
      'pipe it in, use --token-file PATH, or use --anonymous to log in without one',
    );
  }
  const prompter = await context.prompter();
  return retryPrompt(session, ['usage', 'unauthorized'], async (again) => {
    const question = again
      ? TRY_AGAIN
      : isOurs()
        ? 'API token (pwpush serve token add, or ask who runs it):'
        : 'API token (on your account page, under API):';
    const typed = await filledIn(question, prompter.secret);
    return accepted(parseToken(typed));
  });
}

async function givenToken(
  { context: { stdin }, sources }: Session,
  base: string,
): Promise<Token | undefined> {
  const { typed, env } = sources();
  if (typed.token !== undefined) return typed.token.read();
  if (!stdin.isTTY) {
    const piped = smallText(await readAll(stdin.bytes()), 'standard input');
    if (piped.trim() !== '') return parseToken(piped, 'standard input');
  }
  const { settings, token } = env;
  const { url } = settings;
  return url === undefined || parseBase(url) === base ? token?.read() : undefined;
}

type Candidate = ReturnType<typeof candidateAt>;

/** An instance that the user is about to log in to. */
function candidateAt(
  { clientAt, given, say, sources }: Session,
  stored: StoredProfiles,
  base: string,
) {
  const name = nameFor(base, stored, given.profile);
  let warned = false;
  let version: InstanceVersion | undefined;
  const connect = async (token: string | undefined) => {
    const { typed, ...all } = sources();
    const sent = token === undefined ? undefined : { from: '', read: async () => token };
    const target = chooseTarget(stored, {
      ...{ ...all, profile: profileIn(stored, name) && name, envProfile: undefined },
      anonymous: token === undefined,
      typed: { ...typed, settings: { ...typed.settings, url: base }, token: sent },
    });
    return { target, api: await clientAt(target) };
  };
  /** Whether it has said that it is `pwpush serve`, which has no accounts. */
  const isOurs = () => version !== undefined && toldEdition(version) === APPLICATION;
  /** Asks for the version once, then, with a token, for a page of active pushes, which requires a valid token. */
  const check = async (token: string | undefined) => {
    const { target, api } = await connect(token);
    const warning = exposure(target);
    if (!warned && warning !== undefined) await say.warn(warning);
    warned = true;
    try {
      version ??= await api.version();
      if (token !== undefined) await api.list('active', 1);
      return version;
    } catch (error) {
      if (error instanceof LeavesOrigin)
        throw error.withAdvice((base) => phrase('log-in-there', base));
      throw token === undefined ? error : notStored(error, isOurs());
    }
  };
  /** @throws CliError (usage) for the account of an instance that has none */
  const learn = async ({ token, version }: Accepted): Promise<Edition> => {
    const edition = await askEdition((await connect(token)).api, version);
    accountOf({ account: given.settings.account, edition });
    return edition;
  };
  return { base, check, learn, isOurs };
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

function tokenSetting({ token, command, keyring }: Login): Profile {
  if (token === undefined) return {};
  if (keyring) return { keyring };
  return command === undefined ? { token } : { 'token-command': command };
}

function withLogin(
  stored: StoredProfiles,
  name: string,
  login: Login,
  typed: Profile,
): StoredProfiles {
  const { base, edition } = login;
  const before = profileIn(stored, name) ?? {};
  const kept = withoutToken(movedFrom(before.url, { ...before, url: base }));
  const token = tokenSetting(login);
  const profile = withEncryption({ ...kept, edition, ...token, ...savedSettings(typed) }, before);
  return { current: name, profiles: { ...stored.profiles, [name]: profile } };
}
