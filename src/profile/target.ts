import type { Edition } from '../contract/lifetime';
import type { ClientCertificate, HeaderFields, Token } from '../platform/context';
import { CliError, usageError } from '../platform/errors';
import { isAt, isIn, parseBase, travelsOpen } from './base-address';
import { noneInUse, noSuchProfile, profileName } from './config-file';
import { hasToken, type Profile, type StoredProfiles } from './settings';

/** What gets a request past a proxy in front of an instance. Each is read once, when it is needed. */
export interface Access {
  readonly headers?: (() => Promise<HeaderFields>) | undefined;
  readonly certificate?: (() => Promise<ClientCertificate>) | undefined;
}

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
  /** Of `--header`, `--cert` and `--key`. */
  readonly access?: Access | undefined;
  /** The token of a profile that does not store it itself. */
  readonly tokenOf?: ((name: string, profile: Profile) => Token | undefined) | undefined;
  /** What the settings of a profile name. */
  readonly accessOf?: ((profile: Profile) => Access) | undefined;
  readonly env: {
    readonly url?: string | undefined;
    /** Called only if no other token takes precedence, so that a broken file does not matter then. */
    readonly token?: (() => Promise<Token | undefined>) | undefined;
    /** The variable that the token is from. */
    readonly tokenName?: string | undefined;
    readonly profile?: string | undefined;
    readonly caFile?: string | undefined;
    readonly edition?: Edition | undefined;
    readonly access?: Access | undefined;
  };
}

/** The instance of a run, and what is sent to it. */
export interface Target extends Access {
  /** Base address without a final slash. */
  readonly base: string;
  /** Where it is from, such as `--url` or `profile "work"`; undefined for a link. */
  readonly baseFrom?: string | undefined;
  readonly token: Token | undefined;
  /** Where it is from, such as `PWPUSH_TOKEN` or `profile "work"`. */
  readonly tokenFrom?: string | undefined;
  /** The options and variables that are for another address and not sent to this one. */
  readonly withheld?: string | undefined;
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

/** There is neither an address nor a profile. */
export class NoInstance extends CliError {
  constructor() {
    super('usage', 'no instance is configured', { hint: THREE_WAYS });
  }
}

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
  const elsewhere = isAt(home, base) ? [] : profileOfLink(stored, base, known, request);
  const [ownName, own] = isAt(profile?.url, base) ? [name, profile] : elsewhere;
  const { env } = request;
  const typed = { token: request.token, owner: home, from: '--token-file' };
  const environment = { token: env.token, owner: env.url ?? home, from: env.tokenName };
  const kept = {
    token: async () => own?.token ?? (own && request.tokenOf?.(ownName ?? '', own)),
    owner: own?.url,
    from: `profile "${ownName}"`,
  };
  const others = request.profile === undefined ? [environment, kept] : [kept, environment];
  const chosen = request.anonymous ? undefined : await chooseToken(base, [typed, ...others]);
  const token = chosen?.token;
  const access = chooseAccess(
    base,
    home,
    own ?? (isIn(profile?.url, base) ? profile : {}),
    request,
  );
  refuseOpenToken({ base, token, insecure: own?.insecure === true, ...access }, ownName);
  return {
    ...access,
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

/**
 * What is for the origin of `base`: of the options, then the environment, then the profile; with `--profile`, that comes
 * before the environment. Headers of options replace those of a file by name.
 */
function chooseAccess(
  base: string,
  home: string | undefined,
  own: Profile | undefined,
  { access: typed = {}, accessOf, env, profile }: TargetRequest,
): Access & Pick<Target, 'withheld'> {
  const kept = (own && accessOf?.(own)) ?? {};
  const around = isIn(env.url ?? home, base) ? (env.access ?? {}) : {};
  const given = isIn(home, base) ? typed : {};
  const [first, second] = profile === undefined ? [around, kept] : [kept, around];
  const file = first.headers ?? second.headers;
  const line = given.headers;
  // Variables of another address are not meant for a link; those of none may be.
  const lost = (env.url ?? home) === undefined ? (env.access ?? {}) : {};
  const withheld = [
    given !== typed && typed.headers && '--header',
    given !== typed && typed.certificate && '--cert',
    !file && lost.headers && 'PWPUSH_HEADERS_FILE',
    !second.certificate && !first.certificate && lost.certificate && 'PWPUSH_CERT_FILE',
  ]
    .filter((name) => typeof name === 'string')
    .join(' and ');
  return {
    headers: line && file ? async () => ({ ...(await file()), ...(await line()) }) : (line ?? file),
    certificate: given.certificate ?? first.certificate ?? second.certificate,
    withheld: withheld || undefined,
  };
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
  if (Object.keys(stored.profiles).length === 0) return new NoInstance();
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
    ([, profile]) => hasToken(profile) && isAt(profile.url, base),
  );
}

/**
 * The only profile for a link to another instance, unless the user chose a profile or a token. One with a token is
 * preferred to those without.
 */
function profileOfLink(
  { profiles }: StoredProfiles,
  base: string,
  known: readonly NamedProfile[],
  { profile, token }: TargetRequest,
): NamedProfile | readonly [] {
  const all = Object.entries(profiles).filter(([, { url }]) => isAt(url, base));
  const [only, ...others] = known.length > 0 ? known : all;
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
  readonly token: (() => Promise<Token | undefined>) | undefined;
  /** The address it belongs to. */
  readonly owner: string | undefined;
  readonly from: string | undefined;
}

/** The first token of those that belong to `base`. */
async function chooseToken(
  base: string,
  candidates: readonly OwnedToken[],
): Promise<{ readonly token: Token; readonly from: string | undefined } | undefined> {
  for (const { token, owner, from } of candidates) {
    const found = isAt(owner, base) ? await token?.() : undefined;
    if (found !== undefined) return { token: found, from };
  }
  return undefined;
}

/**
 * @param profile the name of the one for that address
 * @throws CliError (usage) when a token or a header of the user would go over plain http
 */
export function refuseOpenToken(
  target: Pick<Target, 'base' | 'token' | 'insecure' | 'headers'>,
  profile?: string,
): void {
  const { base, token, headers } = target;
  const nothing = token === undefined && headers === undefined;
  if (nothing || target.insecure || !travelsOpen(base)) return;
  const url = new URL(base);
  if (token === undefined)
    throw usageError(
      `refusing to send headers over plain http to ${url.host}: anyone on the way could read them`,
      'use https, or accept the risk in a profile for that address: pwpush profile set insecure true',
    );
  throw usageError(
    `refusing to send the token over plain http to ${url.host}: anyone on the way could read it`,
    profile !== undefined
      ? `use https, use --anonymous to send no token, or accept the risk for this profile: pwpush profile set insecure true --profile ${profile}`
      : 'use https, use --anonymous to send no token, or accept the risk in a profile for that address: pwpush profile set insecure true',
  );
}
