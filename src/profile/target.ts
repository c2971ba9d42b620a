import type { Edition } from '../contract/lifetime';
import type { ClientCertificate, HeaderFields, Token } from '../platform/context';
import { CliError, phrase, type Step, usageError } from '../platform/errors';
import { listed } from '../platform/listed';
import { isAt, isIn, parseBase, travelsOpen } from './base-address';
import { noneInUse, noSuchProfile, profileIn } from './config-file';
import { hasToken, type Profile, type StoredProfiles } from './settings';

/** A token that is read when it is chosen; a pipe can be read once only. */
export interface TokenReader {
  /** Where it is from, such as `PWPUSH_TOKEN` or `profile "work"`; empty where messages do not say it. */
  readonly from: string;
  read(): Promise<Token>;
}

/** What the command line, the environment or a profile says about the instance, and what gets requests there. */
export interface SettingSource {
  readonly settings: Profile;
  readonly token?: TokenReader | undefined;
  /** For a proxy in front of the instance; each is read once, when it is needed. */
  readonly headers?: (() => Promise<HeaderFields>) | undefined;
  readonly certificate?: (() => Promise<ClientCertificate>) | undefined;
  /** How messages name one of its settings. */
  named(setting: keyof Profile): string;
}

export interface Sources {
  /** The profile that was named; it takes precedence over the environment's address and token. */
  readonly profile?: string | undefined;
  /** The profile that the environment names. */
  readonly envProfile?: string | undefined;
  readonly anonymous: boolean;
  readonly typed: SettingSource;
  readonly env: SettingSource;
  ofProfile(name: string, profile: Profile): SettingSource;
}

/** The instance of a run, and what is sent to it; its secrets are read when a client is made for it. */
export interface Target extends Pick<SettingSource, 'token' | 'headers' | 'certificate'> {
  /** Base address without a final slash. */
  readonly base: string;
  /** Where it is from, such as `PWPUSH_URL` or `profile "work"`; undefined for a link. */
  readonly baseFrom?: string | undefined;
  /** How to use a token that is there, if none is sent. */
  readonly tokenHint?: Step | undefined;
  /** What was typed or is in the environment for another address, and is not sent to this one. */
  readonly withheld?: string | undefined;
  /** Why the profiles were ignored: the config file cannot be read. */
  readonly ignored?: CliError | undefined;
  readonly caFile: string | undefined;
  /** The user asked for no token to be sent. */
  readonly anonymous: boolean;
  /** Accept any certificate. */
  readonly insecure: boolean;
  /** Undefined if neither the profile nor the environment has it. */
  readonly edition: Edition | undefined;
  /** The ID of an account. */
  readonly account: number | undefined;
  /** The current profile, for the defaults of a push; its address may differ from `base`. */
  readonly defaults: Profile | undefined;
}

/** There is neither an address nor a profile. */
export class NoInstance extends CliError {
  constructor() {
    super('usage', 'no instance is configured', { steps: phrase('configure') });
  }
}

/**
 * Decides the instance and the token: what was typed, then the environment, then the profile. A token is for the address that
 * it belongs to: a stored one for its profile's, that of the environment for the address there, or else for the address in use.
 * Headers and client certificates, which get past a proxy, are for all paths of an origin. For a link to another instance than
 * the configured one, the profile of that instance applies. Reads and sends nothing.
 * @param linkBase the instance of a pasted link, which takes precedence
 * @throws CliError (usage) when nothing is configured, or a token or header would be sent over plain http
 */
export function chooseTarget(stored: StoredProfiles, from: Sources, linkBase?: string): Target {
  const { typed, env, anonymous } = from;
  const used = chooseProfile(stored, from);
  const home = homeAddress(used, from);
  const base = linkBase ?? (home && parseBase(home.address));
  if (base === undefined) throw notConfigured(stored, used);
  const there = profilesAt(stored, base);
  const own = ownProfile(used, isAt(home?.address, base), there, from);
  const near = own ?? (isIn(used?.profile.url, base) ? used : undefined);
  const all = [
    { ...typed, of: home?.address },
    { ...env, of: env.settings.url ?? home?.address },
    ...(near ? [{ ...from.ofProfile(near.name, near.profile), of: near.profile.url }] : []),
  ];
  if (from.profile !== undefined) all.splice(1, 2, ...all.slice(1).reverse());
  const here = all.filter(({ of }) => isAt(of, base));
  const atOrigin = all.filter(({ of }) => isIn(of, base));
  const token = anonymous ? undefined : first(here, (one) => one.token);
  const headers = first(atOrigin, (one) => one.headers);
  const certificate = first(atOrigin, (one) => one.certificate);
  const insecure = own?.profile.insecure === true;
  refuseOpen(base, { token: token !== undefined, headers: headers !== undefined }, insecure, own);
  const withheld = [
    ...(isIn(home?.address, base) ? [] : notSent(typed, {})),
    // Variables of another address are not meant for this one; those of none may be.
    ...(home === undefined ? notSent(env, { headers, certificate }) : []),
  ];
  return {
    ...{ base, token, headers, certificate, anonymous },
    baseFrom: linkBase === undefined ? home?.from : undefined,
    withheld: listed(withheld) || undefined,
    tokenHint: token || anonymous ? undefined : tokenHint(there),
    caFile: typed.settings['ca-file'] ?? env.settings['ca-file'] ?? own?.profile['ca-file'],
    insecure: typed.settings.insecure === true || insecure,
    edition: first(here, ({ settings }) => settings.edition),
    account: typed.settings.account ?? own?.profile.account,
    defaults: used?.profile,
  };
}

/** The value of the first source that has one. */
function first<S, T>(sources: readonly S[], pick: (source: S) => T | undefined): T | undefined {
  for (const source of sources) {
    const value = pick(source);
    if (value !== undefined) return value;
  }
  return undefined;
}

interface NamedProfile {
  readonly name: string;
  readonly profile: Profile;
}

function chooseProfile(stored: StoredProfiles, { profile: named, envProfile }: Sources) {
  const name = named ?? envProfile ?? stored.current;
  const profile = name === undefined ? undefined : profileIn(stored, name);
  if (name === undefined) return undefined;
  if (profile !== undefined) return { name, profile };
  if (named === undefined && envProfile === undefined) return undefined;
  throw noSuchProfile(name, stored);
}

/** The address in use as it was typed or stored, and where it is from. */
function homeAddress(used: NamedProfile | undefined, { typed, env, profile }: Sources) {
  const of = (source: SettingSource | undefined) =>
    source?.settings.url === undefined
      ? undefined
      : { address: source.settings.url, from: source.named('url') };
  const kept = used && {
    settings: used.profile,
    named: () => `profile "${used.name}"`,
  };
  const [before, after] = profile === undefined ? [env, kept] : [kept, env];
  return of(typed) ?? of(before) ?? of(after);
}

/** The error without an address: no profile, none in use, or one without an address. */
function notConfigured(stored: StoredProfiles, used: NamedProfile | undefined) {
  if (used !== undefined)
    return usageError(`profile "${used.name}" has no address`, phrase('set-address', used.name));
  if (Object.keys(stored.profiles).length === 0) return new NoInstance();
  // A chosen one that is missing is an error already.
  return noneInUse(stored, stored.current);
}

function profilesAt({ profiles }: StoredProfiles, base: string): readonly NamedProfile[] {
  return Object.entries(profiles)
    .filter(([, { url }]) => isAt(url, base))
    .map(([name, profile]) => ({ name, profile }));
}

/**
 * The profile whose address it is: that in use, or for a link to another instance the only one there, unless the user chose a
 * profile or a token. One with a token is preferred to those without.
 */
function ownProfile(
  used: NamedProfile | undefined,
  isHome: boolean,
  there: readonly NamedProfile[],
  { profile, typed }: Sources,
): NamedProfile | undefined {
  if (used && there.some(({ name }) => name === used.name)) return used;
  if (isHome || profile !== undefined || typed.token !== undefined) return undefined;
  const withToken = there.filter((one) => hasToken(one.profile));
  const [only, ...others] = withToken.length > 0 ? withToken : there;
  return others.length > 0 ? undefined : only;
}

/** The names of what a source has for a proxy, and that is not sent. */
function notSent(
  { headers, certificate, named }: SettingSource,
  sent: Pick<SettingSource, 'headers' | 'certificate'>,
): string[] {
  return [
    ...(headers && !sent.headers ? [named('headers-file')] : []),
    ...(certificate && !sent.certificate ? [named('cert')] : []),
  ];
}

/** @param there the profiles of the address */
function tokenHint(there: readonly NamedProfile[]): Step | undefined {
  const names = there.filter(({ profile }) => hasToken(profile)).map(({ name }) => name);
  return names.length === 0 ? undefined : phrase('use-profile', ...names);
}

/**
 * @param own the profile for that address
 * @throws CliError (usage) when a token or a header of the user would go over plain http
 */
function refuseOpen(
  base: string,
  sent: Readonly<Record<'token' | 'headers', boolean>>,
  accepted: boolean,
  own: NamedProfile | undefined,
): void {
  if ((!sent.token && !sent.headers) || accepted || !travelsOpen(base)) return;
  const { host } = new URL(base);
  const [what, it] = sent.token ? ['the token', 'it'] : ['headers', 'them'];
  throw usageError(
    `refusing to send ${what} over plain http to ${host}: anyone on the way could read ${it}`,
    phrase('use-https', sent.token ? 'token' : 'headers', (sent.token && own?.name) || ''),
  );
}
