import type { Edition, Profile, StoredProfiles } from '../context';
import { usageError } from '../errors';
import { isLoopback, parseWebUrl, withScheme } from '../loopback';
import { noneInUse, noSuchProfile, profileName } from './config-file';

/** What the command line and the environment say about the instance and the token. */
export interface TargetRequest {
  /** `--profile`; takes precedence over the environment's address and token. */
  readonly profile?: string | undefined;
  readonly url?: string | undefined;
  /** Reads the token of `--token-file`, which can be read once only if it is a pipe. */
  readonly token?: (() => Promise<string>) | undefined;
  readonly anonymous: boolean;
  readonly caFile?: string | undefined;
  readonly insecure: boolean;
  /** `--account`. */
  readonly account?: string | undefined;
  readonly env: {
    readonly url?: string | undefined;
    /** Called only if no other token takes precedence, so that a broken file does not matter then. */
    readonly token?: (() => Promise<string | undefined>) | undefined;
    /** The variable that the token is from. */
    readonly tokenName?: string | undefined;
    readonly profile?: string | undefined;
    readonly caFile?: string | undefined;
    readonly edition?: Edition | undefined;
  };
}

/** The instance of a run, and what is sent to it. */
export interface Target {
  /** Base address without a final slash. */
  readonly base: string;
  /** Where it is from, such as `--url` or `profile "work"`; undefined for a link. */
  readonly baseFrom?: string | undefined;
  readonly token: string | undefined;
  /** Where it is from, such as `PWPUSH_TOKEN` or `profile "work"`. */
  readonly tokenFrom?: string | undefined;
  /** Why the profiles were ignored. */
  readonly ignored?: string | undefined;
  /** Names the profiles that have a token for this address, if none is sent. */
  readonly tokenHint?: string | undefined;
  readonly caFile: string | undefined;
  /** Accept any certificate. */
  readonly insecure: boolean;
  /** Undefined if neither the profile nor the environment has it. */
  readonly edition: Edition | undefined;
  /** The id or name of an account. */
  readonly account: string | undefined;
  /** The current profile, for the defaults of a push; its address may differ from `base`. */
  readonly defaults: Profile | undefined;
}

/** The message if there is neither an address nor a profile. */
export const NO_INSTANCE = 'no instance is configured';
const THREE_WAYS =
  'log in with pwpush login, set PWPUSH_URL or use --url; or run an instance here with pwpush serve';

/**
 * Decides the instance and the token: option, then environment, then profile. A token is sent only to the address it
 * belongs to: a stored one to its profile's, `PWPUSH_TOKEN` to `PWPUSH_URL`, or else to the address in use. For a link
 * to another instance than the configured one, the profile of that instance applies.
 * @param linkBase the instance of a pasted link, which takes precedence
 * @throws CliError (usage) when nothing is configured, or the token would be sent over plain http
 */
export async function chooseTarget(
  stored: StoredProfiles,
  request: TargetRequest,
  linkBase?: string,
): Promise<Target> {
  const profile = chooseProfile(stored, request);
  const name = profileName(stored, request);
  const { address: home, from: baseFrom } = homeAddress(profile, name, request) ?? {};
  const base = linkBase ?? (home === undefined ? undefined : parseBase(home));
  if (base === undefined) throw notConfigured(stored, name, profile);
  const known = profilesWithToken(stored, base);
  const elsewhere = isAt(home, base) ? [] : profileOfLink(known, request);
  const [ownName, own] = isAt(profile?.url, base) ? [name, profile] : elsewhere;
  const { env } = request;
  const typed = { token: request.token, owner: home, from: '--token-file' };
  const environment = { token: env.token, owner: env.url ?? home, from: env.tokenName };
  const kept = {
    token: async () => own?.token,
    owner: own?.url,
    from: `profile "${ownName}"`,
  };
  const others = request.profile === undefined ? [environment, kept] : [kept, environment];
  const chosen = request.anonymous ? undefined : await chooseToken(base, [typed, ...others]);
  const token = chosen?.token;
  refuseOpenToken({ base, token, insecure: own?.insecure === true }, ownName);
  return {
    base,
    baseFrom: linkBase === undefined ? baseFrom : undefined,
    token,
    tokenFrom: chosen?.from,
    tokenHint: token === undefined && !request.anonymous ? tokenHint(known) : undefined,
    caFile: request.caFile ?? request.env.caFile ?? own?.['ca-file'],
    insecure: request.insecure || own?.insecure === true,
    edition: editionFor(base, request, home, own),
    account: request.account ?? own?.account,
    defaults: profile,
  };
}

/** `PWPUSH_EDITION` is that of `PWPUSH_URL`, or else of the address in use, and a named profile takes precedence. */
function editionFor(
  base: string,
  { env, profile }: TargetRequest,
  home: string | undefined,
  own: Profile | undefined,
): Edition | undefined {
  const named = isAt(env.url ?? home, base) ? env.edition : undefined;
  return profile === undefined ? (named ?? own?.edition) : (own?.edition ?? named);
}

/** Whether an address, which may be invalid, is that of `base`. */
function isAt(address: string | undefined, base: string): boolean {
  try {
    return address !== undefined && parseBase(address) === base;
  } catch {
    return false;
  }
}

function chooseProfile(stored: StoredProfiles, request: TargetRequest): Profile | undefined {
  const name = profileName(stored, request);
  if (name === undefined) return undefined;
  if (Object.hasOwn(stored.profiles, name)) return stored.profiles[name];
  if (request.profile === undefined && request.env.profile === undefined) return undefined;
  throw noSuchProfile(name, stored);
}

/** The error if there is no address: no profile, none in use, or one without an address. */
function notConfigured(stored: StoredProfiles, name: string | undefined, profile?: Profile) {
  if (profile !== undefined)
    return usageError(
      `profile "${name}" has no address`,
      `set one: pwpush login --profile ${name}, or pwpush profile set url URL --profile ${name}`,
    );
  if (Object.keys(stored.profiles).length === 0) return usageError(NO_INSTANCE, THREE_WAYS);
  return noneInUse(stored, name);
}

/** The address in use as it was typed or stored, and where it is from. */
function homeAddress(
  profile: Profile | undefined,
  name: string | undefined,
  request: TargetRequest,
): { readonly address: string; readonly from: string } | undefined {
  const from = (address: string | undefined, place: string) =>
    address === undefined ? undefined : { address, from: place };
  const stored = from(profile?.url, `profile "${name}"`);
  const named = from(request.env.url, 'PWPUSH_URL');
  if (request.url !== undefined) return from(request.url, '--url');
  return request.profile === undefined ? (named ?? stored) : (stored ?? named);
}

type NamedProfile = readonly [name: string, profile: Profile];

/** The profiles of an address that have a token for it. */
function profilesWithToken({ profiles }: StoredProfiles, base: string): readonly NamedProfile[] {
  return Object.entries(profiles).filter(
    ([, { url, token }]) => token !== undefined && isAt(url, base),
  );
}

/** The only profile of those for a link to another instance, unless the user chose a profile or a token. */
function profileOfLink(
  known: readonly NamedProfile[],
  { profile, token }: TargetRequest,
): NamedProfile | readonly [] {
  const [only, ...others] = known;
  const chosen = profile !== undefined || token !== undefined;
  return only === undefined || others.length > 0 || chosen ? [] : only;
}

function tokenHint(known: readonly NamedProfile[]): string | undefined {
  const names = known.map(([name]) => name);
  if (names.length > 1)
    return `profiles ${names.join(', ')} have a token for this instance: choose one with --profile`;
  return names.length === 0
    ? undefined
    : `use the token of profile "${names[0]}" for this instance: --profile ${names[0]}`;
}

interface OwnedToken {
  readonly token: (() => Promise<string | undefined>) | undefined;
  /** The address it belongs to. */
  readonly owner: string | undefined;
  readonly from: string | undefined;
}

/** The first token of those that belong to `base`. */
async function chooseToken(
  base: string,
  candidates: readonly OwnedToken[],
): Promise<{ readonly token: string; readonly from: string | undefined } | undefined> {
  for (const { token, owner, from } of candidates) {
    const found = isAt(owner, base) ? await token?.() : undefined;
    if (found !== undefined) return { token: found, from };
  }
  return undefined;
}

/** Whether requests to an instance are sent in plain text over a network. */
export function travelsOpen(base: string): boolean {
  const url = new URL(base);
  return url.protocol === 'http:' && !isLoopback(url.hostname);
}

/**
 * @param profile the name of the one for that address
 * @throws CliError (usage) when a token would go over plain http
 */
export function refuseOpenToken(
  target: Pick<Target, 'base' | 'token' | 'insecure'>,
  profile?: string,
): void {
  if (target.token === undefined || target.insecure || !travelsOpen(target.base)) return;
  const url = new URL(target.base);
  throw usageError(
    `refusing to send the token over plain http to ${url.host}: anyone on the way could read it`,
    profile !== undefined
      ? `use https, use --anonymous to send no token, or accept the risk for this profile: pwpush profile set insecure true --profile ${profile}`
      : 'use https, use --anonymous to send no token, or accept the risk in a profile for that address: pwpush profile set insecure true',
  );
}

/**
 * Normalizes an instance's base address as typed: origin and path without a final slash. The default scheme is http for
 * loopback, https otherwise.
 * @throws CliError (usage) when it is not an http or https address, or has a user name, query or fragment
 */
export function parseBase(text: string): string {
  const url = parseWebUrl(withScheme(text.trim()));
  if (url === undefined) {
    throw usageError(
      'the address of the instance is not an http or https URL',
      'use an address such as https://pwpush.example',
    );
  }
  if (url.username || url.password) {
    throw usageError(
      'the address of the instance contains a user name or password',
      'remove what is before the @',
    );
  }
  if (url.search || url.hash) {
    throw usageError(
      'the address of the instance has a query or fragment',
      'remove the ? or # and what follows',
    );
  }
  return url.origin + url.pathname.replace(/\/+$/, '').replace(/\/api\/v2$/, '');
}
