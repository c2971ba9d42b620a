import type { Profile, StoredProfiles } from '../context';
import { usageError } from '../errors';
import { isLoopback, withScheme } from '../loopback';

export type { Profile, StoredProfiles } from '../context';

/** What the command line and the environment say about where to go; see `cli.md`, "Profiles". */
export interface Wishes {
  /** `--profile`: being typed, it outranks the environment's address and token. */
  readonly profile?: string | undefined;
  readonly url?: string | undefined;
  /** Reads the token of `--token-file`; what feeds it can be read once only. */
  readonly token?: (() => Promise<string>) | undefined;
  readonly anonymous: boolean;
  readonly caFile?: string | undefined;
  readonly insecure: boolean;
  readonly env: {
    readonly url?: string | undefined;
    /** Read only when it is its turn: a broken file must not stand in the way of a better token. */
    readonly token?: (() => Promise<string | undefined>) | undefined;
    /** The variable that token is from. */
    readonly tokenName?: string | undefined;
    readonly profile?: string | undefined;
    readonly caFile?: string | undefined;
  };
}

/** Where requests go, and what goes with them. */
export interface Target {
  /** Base address without a final slash. */
  readonly base: string;
  /** Where it is from, such as `--url` or `profile "work"`; undefined for that of a link. */
  readonly baseFrom?: string | undefined;
  readonly token: string | undefined;
  /** Where it is from, such as `PWPUSH_TOKEN` or `profile "work"`. */
  readonly tokenFrom?: string | undefined;
  /** Why the profiles were left aside. */
  readonly ignored?: string | undefined;
  /** A profile other than the one in use that has a token for this address, when none goes along. */
  readonly knownTo?: string | undefined;
  readonly caFile: string | undefined;
  /** Take any certificate. */
  readonly insecure: boolean;
  /** The profile in use, for the defaults of a push; its address need not be the one in use. */
  readonly defaults: Profile | undefined;
}

/** What is said where there is neither an address nor a profile. */
export const NO_INSTANCE = 'no instance is configured';
const THREE_WAYS =
  'log in with pwpush login, set PWPUSH_URL, or name an instance with --url; pwpush serve makes one of this machine';

/**
 * Decides the instance and the token: option > environment > profile. A token goes only to the address it
 * belongs to: a stored one to its profile's, `PWPUSH_TOKEN` to `PWPUSH_URL` or else the address in use.
 * @param linkBase the instance of a pasted link, which outranks all else
 * @throws CliError (usage) when nothing is configured, or the token would travel unprotected
 */
export async function chooseTarget(
  stored: StoredProfiles,
  wishes: Wishes,
  linkBase?: string,
): Promise<Target> {
  const profile = chooseProfile(stored, wishes);
  const name = profileName(stored, wishes);
  const { address: home, from: baseFrom } = homeAddress(profile, name, wishes) ?? {};
  const base = linkBase ?? (home === undefined ? undefined : parseBase(home));
  if (base === undefined) throw notConfigured(stored, name, profile);
  const own = isAt(profile?.url, base) ? profile : undefined;
  const chosen = wishes.anonymous
    ? undefined
    : await chooseToken(base, home, profile, name, wishes);
  const token = chosen?.token;
  refuseOpenToken({ base, token, insecure: own?.insecure === true }, own !== undefined);
  return {
    base,
    baseFrom: linkBase === undefined ? baseFrom : undefined,
    token,
    tokenFrom: chosen?.from,
    knownTo: token === undefined && !wishes.anonymous ? nameWithToken(stored, base) : undefined,
    caFile: wishes.caFile ?? wishes.env.caFile ?? own?.['ca-file'],
    insecure: wishes.insecure || own?.insecure === true,
    defaults: profile,
  };
}

/** Whether an address, which may be none or broken, is that base. */
function isAt(address: string | undefined, base: string): boolean {
  try {
    return address !== undefined && parseBase(address) === base;
  } catch {
    return false;
  }
}

/** The name of the profile in use, if there is one. */
export function profileName(
  stored: StoredProfiles,
  wishes: Pick<Wishes, 'profile' | 'env'>,
): string | undefined {
  return wishes.profile ?? wishes.env.profile ?? stored.current;
}

function chooseProfile(stored: StoredProfiles, wishes: Wishes): Profile | undefined {
  const name = profileName(stored, wishes);
  if (name === undefined) return undefined;
  if (Object.hasOwn(stored.profiles, name)) return stored.profiles[name];
  if (wishes.profile === undefined && wishes.env.profile === undefined) return undefined;
  throw noSuchProfile(name, stored);
}

/** @throws nothing: makes the error for a profile that is named but not there. */
export function noSuchProfile(name: string, stored: StoredProfiles) {
  const names = Object.keys(stored.profiles);
  return usageError(
    `there is no profile "${name}"`,
    names.length === 0 ? 'make one with pwpush login' : `there are: ${names.join(', ')}`,
  );
}

/** There is no address: nothing at all, a profile without one, or none of several profiles is in use. */
function notConfigured(stored: StoredProfiles, name: string | undefined, profile?: Profile) {
  if (profile !== undefined)
    return usageError(
      `profile "${name}" has no address`,
      `give it one: pwpush login --profile ${name}, or pwpush profile set url URL --profile ${name}`,
    );
  const names = Object.keys(stored.profiles);
  if (names.length === 0) return usageError(NO_INSTANCE, THREE_WAYS);
  return usageError(
    name === undefined
      ? 'no profile is in use'
      : `the profile in use, "${name}", is not there any more`,
    `choose one with pwpush profile use NAME; there are: ${names.join(', ')}`,
  );
}

/** The address in use, as it was typed or stored, and where it is from. */
function homeAddress(
  profile: Profile | undefined,
  name: string | undefined,
  wishes: Wishes,
): { readonly address: string; readonly from: string } | undefined {
  const from = (address: string | undefined, place: string) =>
    address === undefined ? undefined : { address, from: place };
  const stored = from(profile?.url, `profile "${name}"`);
  const named = from(wishes.env.url, 'PWPUSH_URL');
  if (wishes.url !== undefined) return from(wishes.url, '--url');
  return wishes.profile === undefined ? (named ?? stored) : (stored ?? named);
}

function nameWithToken({ profiles }: StoredProfiles, base: string): string | undefined {
  const known = Object.entries(profiles).find(
    ([, { url, token }]) => token !== undefined && isAt(url, base),
  );
  return known?.[0];
}

interface OwnedToken {
  readonly token: () => Promise<string | undefined>;
  readonly owner: string | undefined;
  readonly from: string | undefined;
}

async function chooseToken(
  base: string,
  home: string | undefined,
  profile: Profile | undefined,
  name: string | undefined,
  wishes: Wishes,
): Promise<{ readonly token: string; readonly from: string | undefined } | undefined> {
  const { env } = wishes;
  const typed: OwnedToken = {
    token: async () => wishes.token?.(),
    owner: home,
    from: '--token-file',
  };
  const environment: OwnedToken = {
    token: async () => env.token?.(),
    owner: env.url ?? home,
    from: env.tokenName,
  };
  const from = `profile "${name}"`;
  const stored: OwnedToken = { token: async () => profile?.token, owner: profile?.url, from };
  const order =
    wishes.profile === undefined ? [typed, environment, stored] : [typed, stored, environment];
  for (const { token, owner, from } of order) {
    const found = isAt(owner, base) ? await token() : undefined;
    if (found !== undefined) return { token: found, from };
  }
  return undefined;
}

/** Whether what is sent there can be read by everybody on the way. */
export function travelsOpen(base: string): boolean {
  const url = new URL(base);
  return url.protocol === 'http:' && !isLoopback(url.hostname);
}

/** @throws CliError (usage) when a token would go over plain http */
export function refuseOpenToken(
  target: Pick<Target, 'base' | 'token' | 'insecure'>,
  ofProfile = false,
): void {
  if (target.token === undefined || target.insecure || !travelsOpen(target.base)) return;
  const url = new URL(target.base);
  throw usageError(
    `the token would travel over plain http to ${url.host}, readable by everybody on the way`,
    ofProfile
      ? 'use https, send no token with --anonymous, or accept it for this profile: pwpush profile set insecure true'
      : 'use https, send no token with --anonymous, or accept it in a profile for that address: see pwpush help profile',
  );
}

/**
 * An instance's base address as typed → origin and path without a final slash. Without a scheme it is https,
 * on this machine http.
 * @throws CliError (usage) when it is no http or https address, or has a user name, query or fragment
 */
export function parseBase(text: string): string {
  const url = parseUrl(text.trim());
  if (url === undefined) {
    throw usageError(
      'the address of the instance is not an http or https URL',
      'it looks like https://pwpush.example',
    );
  }
  if (url.username || url.password) {
    throw usageError(
      'the address of the instance carries a user name or password',
      'leave out what stands before the @',
    );
  }
  if (url.search || url.hash) {
    throw usageError(
      'the address of the instance has a query or fragment',
      'leave out what follows the ? or #',
    );
  }
  return url.origin + url.pathname.replace(/\/+$/, '').replace(/\/api\/v2$/, '');
}

function parseUrl(text: string): URL | undefined {
  try {
    const url = new URL(withScheme(text));
    return url.protocol === 'https:' || url.protocol === 'http:' ? url : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The profile that was named, or the one in use.
 * @throws CliError (usage) when there is none
 */
export function namedProfile(
  stored: StoredProfiles,
  named: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): { readonly name: string; readonly profile: Profile } {
  const name = named ?? (env.PWPUSH_PROFILE || stored.current);
  if (name === undefined) throw usageError('there is no profile yet', 'make one with pwpush login');
  const profile = Object.hasOwn(stored.profiles, name) ? stored.profiles[name] : undefined;
  if (profile === undefined) throw noSuchProfile(name, stored);
  return { name, profile };
}
