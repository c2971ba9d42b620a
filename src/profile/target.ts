import type { Edition } from '../contract/lifetime';
import type { ClientCertificate, HeaderFields, Token } from '../platform/context';
import { CliError, usageError } from '../platform/errors';
import { listed } from '../platform/listed';
import { isAt, isIn, parseBase, travelsOpen } from './base-address';
import { noneInUse, noSuchProfile, profileIn } from './config-file';
import { hasToken, type Profile, type StoredProfiles, settings } from './settings';

/** Gets requests past a proxy in front of an instance. Each is read once, when it is needed. */
export interface Access {
  readonly headers?: (() => Promise<HeaderFields>) | undefined;
  readonly certificate?: (() => Promise<ClientCertificate>) | undefined;
}

/** A token that is read when it is chosen; a pipe can be read once only. */
export interface TokenSource {
  /** Where it is from, such as `PWPUSH_TOKEN` or `profile "work"`. */
  readonly from: string;
  read(): Promise<Token>;
}

/** Options, environment or a profile: what they say about the instance, and what they have for it. */
export interface Source extends Access {
  readonly settings: Profile;
  readonly token?: TokenSource | undefined;
}

export interface TargetRequest {
  /** `--profile`; takes precedence over the environment's address and token. */
  readonly profile?: string | undefined;
  readonly anonymous: boolean;
  readonly options: Source;
  readonly env: Source & { readonly profile?: string | undefined };
  readonly ofProfile: (name: string, profile: Profile) => Source;
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
  /** Why the profiles were ignored: the config file cannot be read. */
  readonly ignored?: CliError | undefined;
  /** Names the profiles that have a token for this address, if none is sent. */
  readonly tokenHint?: string | undefined;
  readonly caFile: string | undefined;
  /** Accept any certificate. */
  readonly insecure: boolean;
  /** Undefined if neither the profile nor the environment has it. */
  readonly edition: Edition | undefined;
  /** The ID of an account. */
  readonly account: number | undefined;
  /** The current profile, for the defaults of a push; its address may differ from `base`. */
  readonly defaults: Profile | undefined;
}

/**
 * The defaults of the current profile for a new push.
 * @throws CliError (usage) when the profiles were ignored: one may encrypt, or limit pushes to fewer days
 */
export function defaultsOf({ ignored, defaults }: Target): Profile | undefined {
  if (ignored) throw ignored;
  return defaults;
}

export const ignoredText = (ignored: CliError) => `${ignored.message}; profiles are ignored`;

/** There is neither an address nor a profile. */
export class NoInstance extends CliError {
  constructor() {
    super('usage', 'no instance is configured', { steps: THREE_WAYS });
  }
}

const THREE_WAYS =
  'log in with pwpush login, set PWPUSH_URL or use --url; or run an instance here with pwpush serve';

/**
 * Decides the instance and the token: option, then environment, then profile. A token is sent only to the address it
 * belongs to: a stored one to its profile's, `PWPUSH_TOKEN` to `PWPUSH_URL`, or else to the address in use. For a link
 * to another instance than the configured one, the profile of that instance applies.
 * @param linkBase the instance of a pasted link, which takes precedence
 * @throws CliError (usage) when nothing is configured, a token cannot be read, or it would be sent over plain http
 */
export async function chooseTarget(
  stored: StoredProfiles,
  request: TargetRequest,
  linkBase?: string,
): Promise<Target> {
  const { target, token: source, own } = decide(stored, request, linkBase);
  const token = await source?.read();
  refuseOpenToken({ ...target, token, insecure: own?.profile.insecure === true }, own?.name);
  return { ...target, token, tokenFrom: source?.from };
}

interface NamedProfile {
  readonly name: string;
  readonly profile: Profile;
}

/** Reads and sends nothing. `own` is the profile of the address. */
function decide(stored: StoredProfiles, request: TargetRequest, linkBase?: string) {
  const { options, env, anonymous } = request;
  const used = chooseProfile(stored, request);
  const { address: home, from } = homeAddress(used, request) ?? {};
  const base = linkBase ?? (home === undefined ? undefined : parseBase(home));
  if (base === undefined) throw notConfigured(stored, used);
  const here = profilesAt(stored, base);
  const own = isAt(used?.profile.url, base)
    ? used
    : isAt(home, base)
      ? undefined
      : profileOfLink(here, request);
  // What gets past a proxy is for all paths of an origin.
  const near = own ?? (isIn(used?.profile.url, base) ? used : undefined);
  const typed = { ...options, of: home };
  const around = { ...env, of: env.settings.url ?? home };
  const kept = near
    ? [{ ...request.ofProfile(near.name, near.profile), of: near.profile.url }]
    : [];
  const all = request.profile === undefined ? [typed, around, ...kept] : [typed, ...kept, around];
  const isHere = (address: string | undefined) => isAt(address, base);
  const isNear = (address: string | undefined) => isIn(address, base);
  const token = anonymous ? undefined : firstFor(all, isHere, (one) => one.token);
  const access = {
    headers: firstFor(all, isNear, (one) => one.headers),
    certificate: firstFor(all, isNear, (one) => one.certificate),
  };
  const target = {
    ...access,
    base,
    baseFrom: linkBase === undefined ? from : undefined,
    withheld: withheldFrom(request, isNear(home), home === undefined, access),
    tokenHint: token === undefined && !anonymous ? tokenHint(here) : undefined,
    caFile: options.settings['ca-file'] ?? env.settings['ca-file'] ?? own?.profile['ca-file'],
    insecure: options.settings.insecure === true || own?.profile.insecure === true,
    edition: firstFor(all, isHere, (one) => one.settings.edition),
    account: options.settings.account ?? own?.profile.account,
    defaults: used?.profile,
  };
  return { target, token, own };
}

/**
 * Names the options and variables that are not sent. Variables of another address are not meant for this one; those of
 * none may be.
 * @param sent whether options are for this address
 * @param homeless whether variables are for none
 */
function withheldFrom(
  { options, env }: TargetRequest,
  sent: boolean,
  homeless: boolean,
  { headers, certificate }: Access,
): string | undefined {
  const names = [
    !sent && options.headers && '--headers-file',
    !sent && options.certificate && '--cert',
    homeless && !headers && env.headers && settings['headers-file'].variable,
    homeless && !certificate && env.certificate && settings.cert.variable,
  ];
  return listed(names.filter((name) => typeof name === 'string')) || undefined;
}

/** The value of the first source that has one and is for an instance. */
function firstFor<T>(
  sources: readonly (Source & { readonly of: string | undefined })[],
  isFor: (address: string | undefined) => boolean,
  pick: (source: Source) => T | undefined,
): T | undefined {
  for (const source of sources) {
    const value = isFor(source.of) ? pick(source) : undefined;
    if (value !== undefined) return value;
  }
  return undefined;
}

function chooseProfile(stored: StoredProfiles, request: TargetRequest): NamedProfile | undefined {
  const name = request.profile ?? request.env.profile ?? stored.current;
  if (name === undefined) return undefined;
  const profile = profileIn(stored, name);
  if (profile !== undefined) return { name, profile };
  if (request.profile === undefined && request.env.profile === undefined) return undefined;
  throw noSuchProfile(name, stored);
}

/** The error without an address: no profile, none in use, or one without an address. */
function notConfigured(stored: StoredProfiles, used: NamedProfile | undefined) {
  if (used !== undefined)
    return usageError(
      `profile "${used.name}" has no address`,
      `set one: pwpush login --profile ${used.name}, or pwpush profile set url URL --profile ${used.name}`,
    );
  if (Object.keys(stored.profiles).length === 0) return new NoInstance();
  // A chosen one that is missing is an error already.
  return noneInUse(stored, stored.current);
}

/** The address in use as it was typed or stored, and where it is from. */
function homeAddress(
  used: NamedProfile | undefined,
  { options, env, profile }: TargetRequest,
): { readonly address: string; readonly from: string } | undefined {
  const from = (address: string | undefined, place: string) =>
    address === undefined ? undefined : { address, from: place };
  const typed = from(options.settings.url, '--url');
  const around = from(env.settings.url, settings.url.variable);
  const kept = from(used?.profile.url, `profile "${used?.name}"`);
  return typed ?? (profile === undefined ? (around ?? kept) : (kept ?? around));
}

/** The profiles of an address. */
function profilesAt({ profiles }: StoredProfiles, base: string): readonly NamedProfile[] {
  return Object.entries(profiles)
    .filter(([, { url }]) => isAt(url, base))
    .map(([name, profile]) => ({ name, profile }));
}

/**
 * The only profile for a link to another instance, unless the user chose a profile or a token. One with a token is
 * preferred to those without.
 */
function profileOfLink(
  here: readonly NamedProfile[],
  { profile, options }: TargetRequest,
): NamedProfile | undefined {
  const withToken = here.filter((one) => hasToken(one.profile));
  const [only, ...others] = withToken.length > 0 ? withToken : here;
  const chosen = profile !== undefined || options.token !== undefined;
  return others.length > 0 || chosen ? undefined : only;
}

/** @param here the profiles of the address */
function tokenHint(here: readonly NamedProfile[]): string | undefined {
  const names = here.filter(({ profile }) => hasToken(profile)).map(({ name }) => name);
  if (names.length > 1)
    return `profiles ${names.join(', ')} have a token for this instance: choose one with --profile`;
  return names.length === 0
    ? undefined
    : `use the token of profile "${names[0]}" for this instance: --profile ${names[0]}`;
}

/**
 * @param profile the name of the one for that address
 * @throws CliError (usage) when a token or a header of the user would go over plain http
 */
function refuseOpenToken(
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
