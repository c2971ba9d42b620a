import type { Token } from '../client/api-settings';
import type { Edition } from '../contract/lifetime';
import type { ClientCertificate, HeaderFields } from '../platform/context';
import { CliError, type Hint, phrase, tried, usageError } from '../platform/errors';
import { listed } from '../words/grammar';
import { isAt, isIn, parseBase, travelsOpen } from './base-address';
import { noneInUse, noSuchProfile, type profileInUse } from './config-file';
import { hasToken, type PartialSettings, type Profile, type StoredProfiles } from './settings';

/** Reads the token only if it is chosen, as a pipe can be read once only. */
export interface TokenReader {
  /** The origin of the token in messages, such as `PWPUSH_TOKEN` or `profile "work"`; empty if they name none. */
  readonly from: string;
  readonly ofProfile?: boolean;
  read(): Promise<Token>;
}

export interface SettingSource {
  readonly settings: PartialSettings;
  readonly token?: TokenReader | undefined;
  /** Headers and certificate are for a proxy in front of the instance; each is read once, when it is needed. */
  readonly headers?: (() => Promise<HeaderFields>) | undefined;
  readonly certificate?: (() => Promise<ClientCertificate>) | undefined;
  labelOf(setting: keyof Profile): string;
}

export interface Sources {
  readonly stored: StoredProfiles | CliError;
  readonly inUse: ReturnType<typeof profileInUse>;
  /** The profile that was typed takes precedence over the environment's address and token. */
  readonly profile?: string | undefined;
  readonly anonymous: boolean;
  /** In seconds, from the command line. */
  readonly timeout?: number | undefined;
  readonly typed: SettingSource;
  readonly env: SettingSource;
  ofProfile(name: string, profile: Profile): SettingSource;
}

export const NO_PROFILES: StoredProfiles = { profiles: {} };

/** Describes the instance of a run, and what is sent to it; its secrets are read when a client is made for it. */
export interface Target extends Pick<SettingSource, 'token' | 'headers' | 'certificate'> {
  /** The address has no final slash. */
  readonly base: string;
  /** The address was typed, or is that of the profile or variable in use. */
  readonly inUse: boolean;
  /** The instance that the environment's passphrase is for, if that is another one. */
  readonly passphraseFor?: string | undefined;
  /** The origin of the address in messages, such as `PWPUSH_URL` or `profile "work"`; undefined for a link. */
  readonly baseFrom?: string | undefined;
  readonly addressHint?: Hint | undefined;
  /** A token that was typed must be readable even if it is not sent to this instance. */
  readonly typedToken?: TokenReader | undefined;
  /** Tells how to use a token that exists, if none is sent. */
  readonly tokenHint?: Hint | undefined;
  /** Names headers and certificates, typed or in the environment, that are for another address and are not sent. */
  readonly withheld?: string | undefined;
  /** Says why the config file cannot be read, so that its profiles are ignored. */
  readonly ignored?: CliError | undefined;
  readonly caFile: string | undefined;
  readonly timeout?: number | undefined;
  readonly anonymous: boolean;
  readonly insecure: boolean;
  readonly edition: Edition | undefined;
  readonly account: number | undefined;
  /** The audience of identity tokens for the target. */
  readonly audience?: string | undefined;
  /** The name of the profile in use. */
  readonly profile?: string | undefined;
  /** Settings of the environment, and of the profile in use, for a push; their address may differ from `base`. */
  readonly defaults: PartialSettings;
}

export class NoInstance extends CliError {
  constructor() {
    super('usage', 'no instance is configured', { hints: phrase('configure') });
  }
}

/**
 * Decides the instance and the token. What was typed takes precedence over the environment, which does so over the
 * profile. A token is for its own address only: a stored one for its profile's, one of the environment for the address
 * in the environment, or else for the address in use. The same holds for the passphrase of the environment; without any
 * such address it is for the instance of the link. Headers and client certificates, which get past a proxy, are for all
 * paths of an origin. For a link to another instance than the configured one, the profile of that instance applies.
 * Reads and sends nothing. An unreadable config file is ignored if the command line and the environment have an address
 * and a token.
 * @param linkBase the instance of a pasted link, which takes precedence
 * @throws CliError (usage) when nothing is configured, or a token or header would be sent over plain http
 */
export function targetOf(from: Sources, linkBase?: string): Target {
  const { stored } = from;
  if (!(stored instanceof CliError)) return chooseTarget(stored, from, linkBase);
  const target = tried(() => chooseTarget(NO_PROFILES, from, linkBase));
  if (target instanceof CliError || !(target.token || target.anonymous)) throw stored;
  return { ...target, ignored: stored };
}

export function targetOrNone(from: Sources): Target | NoInstance {
  const target = tried(() => targetOf(from));
  if (target instanceof CliError && !(target instanceof NoInstance)) throw target;
  return target;
}

/** Orders sources by precedence: a profile that was typed comes before the environment. */
function ranked<T>({ typed, env, profile: wanted }: Sources, profile: T | undefined) {
  const others = wanted === undefined ? [env, profile] : [profile, env];
  return [typed, ...others].filter((source) => source !== undefined);
}

/** `own` is the profile for all settings of the address, `near` that for headers and certificates of its origin. */
function chooseAddress(stored: StoredProfiles, from: Sources, linkBase?: string) {
  const { typed, inUse } = from;
  const profiles = Object.entries(stored.profiles).map(([name, settings]) => ({
    name,
    settings,
    labelOf: () => `profile "${name}"`,
  }));
  const used = profiles.find(({ name }) => name === inUse.name);
  if (inUse.chosen !== undefined && used === undefined) throw noSuchProfile(inUse.chosen, stored);
  const home = ranked(from, used).find(({ settings }) => settings.url !== undefined);
  const address = home?.settings.url;
  const base = linkBase ?? (address === undefined ? undefined : parseBase(address));
  if (base === undefined) throw notConfigured(stored, used);
  // The profile in use applies if `base` is its address. Otherwise the only profile at `base` applies, unless the user
  // typed a profile or a token; profiles with a token are preferred.
  const there = profiles.filter(({ settings }) => isAt(settings.url, base));
  const withToken = there.filter(({ settings }) => hasToken(settings));
  const [only, ...more] = withToken.length > 0 ? withToken : there;
  const isFree = !isAt(address, base) && from.profile === undefined && typed.token === undefined;
  const own =
    there.find((profile) => profile === used) ?? (isFree && more.length === 0 ? only : undefined);
  const near = own ?? (used && isIn(used.settings.url, base) ? used : undefined);
  return { base, address, home, used, own, near, withToken };
}

function chooseTarget(stored: StoredProfiles, from: Sources, linkBase?: string): Target {
  const { typed, env, anonymous } = from;
  const { base, address, home, used, own, near, withToken } = chooseAddress(stored, from, linkBase);
  const all = ranked(from, near && from.ofProfile(near.name, near.settings));
  // A source without an address is for the address in use.
  const matching = all.filter(({ settings }) => isAt(settings.url ?? address, base));
  const atOrigin = all.filter(({ settings }) => isIn(settings.url ?? address, base));
  const token = anonymous ? undefined : matching.find((source) => source.token)?.token;
  const headers = atOrigin.find((source) => source.headers)?.headers;
  const certificate = atOrigin.find((source) => source.certificate)?.certificate;
  const insecure = own?.settings.insecure === true;
  const secret = token ? 'token' : headers && 'headers';
  if (secret && !insecure && travelsOpen(base)) throw sentOpenly(secret, base, own?.name);
  const withheld = [
    ...(atOrigin.includes(typed) ? [] : notSent(typed, {})),
    // Variables for another address are not meant for this one; those without an address may be.
    ...(home === undefined ? notSent(env, { headers, certificate }) : []),
  ];
  const owner = tried(() => parseBase(env.settings.url ?? address ?? base));
  const hinted = token || anonymous ? [] : withToken.map(({ name }) => name);
  const baseFrom = linkBase === undefined ? home?.labelOf('url') : undefined;
  return {
    base,
    baseFrom,
    token,
    typedToken: typed.token,
    headers,
    certificate,
    anonymous,
    timeout: from.timeout,
    inUse: isAt(address, base),
    // An invalid address may contain a password, and is not quoted.
    passphraseFor:
      owner === base ? undefined : owner instanceof CliError ? 'another instance' : owner,
    addressHint: baseFrom && home !== typed ? phrase('address-from', baseFrom) : undefined,
    withheld: listed(withheld) || undefined,
    tokenHint: hinted.length > 0 ? phrase('use-profile', ...hinted) : undefined,
    caFile: typed.settings['ca-file'] ?? env.settings['ca-file'] ?? own?.settings['ca-file'],
    insecure: typed.settings.insecure === true || insecure,
    edition: matching.find(({ settings }) => settings.edition)?.settings.edition,
    account: typed.settings.account ?? own?.settings.account,
    audience: matching.map(({ settings }) => settings['token-audience']).find(Boolean),
    profile: used?.name,
    defaults: { ...used?.settings, ...env.settings },
  };
}

function notConfigured(stored: StoredProfiles, used: { readonly name: string } | undefined) {
  if (used !== undefined)
    return usageError(`profile "${used.name}" has no address`, phrase('set-address', used.name));
  if (Object.keys(stored.profiles).length === 0) return new NoInstance();
  // `chooseAddress` has refused a chosen profile that does not exist.
  return noneInUse(stored, stored.current);
}

function notSent(
  { headers, certificate, labelOf }: SettingSource,
  sent: Pick<SettingSource, 'headers' | 'certificate'>,
): string[] {
  return [
    ...(headers && !sent.headers ? [labelOf('headers-file')] : []),
    ...(certificate && !sent.certificate ? [labelOf('cert')] : []),
  ];
}

/** @param profile the name of the profile with the address */
function sentOpenly(secret: 'token' | 'headers', base: string, profile = ''): CliError {
  const { host } = new URL(base);
  const [what, it, name] =
    secret === 'token' ? ['the token', 'it', profile] : ['headers', 'them', ''];
  return usageError(
    `refusing to send ${what} over plain http to ${host}: anyone on the way could read ${it}`,
    phrase('use-https', secret, name),
  );
}
