import { LONGEST_LINK, parseWebUrl, pushLink, webAddress, withScheme } from '../contract/address';
import type { Push } from '../contract/decode';
import { type Fact, phrase, usageError } from '../platform/errors';
import type { FactName } from '../words/facts';
import type { Api } from './client';

/** A user names a push or request by its token, or by an address, which also names the instance. */
export interface Reference {
  readonly token: string;
  /** The address has no final slash; undefined for a bare token. */
  readonly base: string | undefined;
  /** The fragment has the key to an encrypted push, which is never sent; it may be damaged. */
  readonly key?: string;
  /**
   * The fragment decides, so that no instance learns what its user opens. Without one, `/r/T` is `unknown`, as URL
   * pushes and requests have it; a bare token and the other addresses of a push have no kind.
   */
  readonly kind?: 'push' | 'request' | 'unknown';
  /** The link of a request has the public key to which its answer is encrypted; it may be damaged. */
  readonly publicKey?: string;
  readonly repairs?: readonly FactName[];
}

const bareToken = /^[\w-]{1,128}$/;
/** Pages and v1 append these to the path of a push. */
const appended = /^(?:r|preview|passphrase|audit)(?:\.json)?$/;

/** Opening brackets and quotes of any language, as they are and escaped, but for the bracket of an IPv6 host (`[::1]`). */
const before = () =>
  /^(?:(?!\[[\da-f.]*:[\da-f:.]*\])[\p{Ps}\p{Pi}\p{Pf}\p{Cf}\s<"'`*]|%(?:0[9ad]|2[0278a]|3c|5b|60|7b|c2%a0))+/iu;
/**
 * One closing bracket or quote, or punctuation that ends a sentence, at the end of a text, as it is or escaped. An
 * ellipsis does not match: it means that the link was cut.
 */
const after = () =>
  /(?:[\p{Ps}\p{Pe}\p{Pi}\p{Pf}\p{Cf}\s>"'`*,;:!?\u3001\u3002\uff0c\uff01\uff1b\uff1f]|(?<!\.)\.|%(?:0[9ad]|2[01279ac]|3[abef]|5d|60|7d|c2%a0|e2%80%(?:8[b-f]|9[89cd])|ef%bb%bf))$/iu;
const LONGEST_AFTER = '%e2%80%8b'.length;
/** Markdown has `[text](link)`, Slack `<link|text>`. */
const WITH_TEXT = /^(?:\[[^\]]*\]\(([^()]+)\)|<([^<>|]+)\|)/;
/** Programs break long words, and turn their direction, with these invisible characters. */
const UNSEEN = /[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

/** The text that a link was copied from may have left signs around it, also before its fragment. */
function withoutSurroundings(pasted: string): string {
  const text = pasted.trim();
  // The expressions for signs take a millisecond to make, so that a text without any returns first.
  if (/^\w[!-~]*[\w/=-]$/.test(text) && !/(?:%..|[^\w/=-])(?:#|$)/.test(text)) return text;
  const [, markdown, slack] = WITH_TEXT.exec(text) ?? [];
  const link = (markdown ?? slack ?? text).replace(UNSEEN, '').replace(before(), '');
  const [, address = '', fragment = ''] = /^([^#]*)(.*)$/s.exec(link) ?? [];
  return withoutEnd(withoutEnd(address) + fragment);
}

/** One expression for all signs would look at each place where some begin, which takes the square of their number. */
function withoutEnd(text: string): string {
  let end = text.length;
  for (;;) {
    const [sign = ''] = after().exec(text.slice(Math.max(0, end - LONGEST_AFTER), end)) ?? [];
    if (sign === '') return text.slice(0, end);
    end -= sign.length;
  }
}

const MOST_WRAPPERS = 5;

/**
 * A row has the addresses of a gateway that wraps links, and finds the links in one. The gateways' hosts are not asked,
 * as they would see the link. `Proofpoint` is read as its decoder does (https://help.proofpoint.com, "URL Defense
 * decoder").
 */
const wrappers: readonly (readonly [FactName, RegExp, (...parts: string[]) => string[]])[] = [
  ['repaired-outlook', /^https?:\/\/(?:[\w-]+\.)*safelinks\.protection\.[\w.]+[/?]/i, addressesIn],
  [
    'repaired-proofpoint',
    /^https?:\/\/urldefense\.(?:proofpoint\.com|com|us)\/v3\/__(.+?)__;([\w-]*)!/i,
    (_, link = '', moved = '') => [withBytes(link, Buffer.from(moved, 'base64url').toString())],
  ],
  [
    'repaired-proofpoint',
    /^https?:\/\/urldefense\.(?:proofpoint\.com|com|us)\/v([12])\/[^#]*?[?&]u=([^&#]*)/i,
    (_, version, link = '') => [
      decoded(version === '1' ? link : link.replaceAll('-', '%').replaceAll('_', '/')),
    ],
  ],
  ['repaired-wrapper', /^/, addressesIn],
];

/**
 * Safe Links, Teams, Cisco, Barracuda, Sophos (in base64), Check Point (`/___LINK___.BYTES`), Google, Facebook and most
 * others that do not keep the address to themselves wrap it in a parameter, or at the end of the path.
 */
function addressesIn(text: string): string[] {
  const url = parseWebUrl(text);
  if (!url) return [];
  const path = unescaped(url.pathname);
  const inPath = path.slice(path.search(/\/https?:\//i) + 1);
  const [, marked = ''] = /\/___(https?:\/\/.+?)___\./i.exec(text) ?? [];
  return [...[...url.searchParams].flat(), inPath, marked]
    .map((value) =>
      /^aHR0c/.test(value) ? Buffer.from(value, 'base64').toString() : unescaped(value),
    )
    .filter((plain) => /^https?:\//i.test(plain))
    .map((plain) => (plain.includes('#') ? plain : plain + url.hash));
}

/** A gateway may escape an address as a whole, even twice. */
function unescaped(text: string, times = 2): string {
  if (times === 0 || !/(?:^|\/)https?%/i.test(text)) return text;
  return unescaped(decoded(text), times - 1);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A letter stands for the length of a run, which is 2 or more. */
const RUNS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Version 3 of Proofpoint moves these characters to the end of an address. */
function withBytes(link: string, bytes: string): string {
  const characters = [...bytes];
  return link
    .replace(/^(https?:\/)(?!\/)/i, '$1/')
    .replace(/\*(?:\*(.))?/g, (_, run?: string) =>
      characters.splice(0, run === undefined ? 1 : RUNS.indexOf(run) + 2).join(''),
    );
}

function repaired(pasted: string, wrapped = 0): { text: string; repairs: FactName[] } {
  const text = withoutSurroundings(pasted);
  const repairs: FactName[] = text === pasted.trim() ? [] : ['repaired-surroundings'];
  const isWrapped = wrapped < MOST_WRAPPERS && !bareToken.test(text) && !isAddress(text);
  for (const [name, pattern, links] of isWrapped ? wrappers : []) {
    const match = pattern.exec(text);
    for (const link of match ? links(text, ...match.slice(1)) : []) {
      const inner = repaired(link, wrapped + 1);
      if (isAddress(inner.text)) return { ...inner, repairs: [...repairs, name, ...inner.repairs] };
    }
  }
  if (text.includes('#') || !/%(25)*23/.test(text)) return { text, repairs };
  return { text: text.replace(/%(25)*23/, '#'), repairs: [...repairs, 'repaired-hash'] };
}

/**
 * Parses a pasted link or token (docs/wire.md, "Tokens and addresses"), and repairs it (docs/encryption.md, "Links").
 * @throws CliError (usage) for anything else; the message does not quote it
 */
export function parseReference(pasted: string): Reference {
  if (pasted.length > 4 * LONGEST_LINK) throw usageError(phrase('no-link'), phrase('use-link'));
  const { text, repairs } = repaired(pasted);
  const [, address = '', fragment = ''] = /^([^#]*)#?(.*)$/s.exec(text) ?? [];
  // A fragment of any other form is a key that was damaged.
  const [key = ''] = /^(?:age1[a-z\d]*|[\w-]{22}(?![\w-])|[^&?]+|.*)/is.exec(fragment) ?? [];
  const all = key === fragment ? repairs : [...repairs, 'repaired-tail' as const];
  const isPublic = /^age1/i.test(key);
  return {
    ...parseAddress(address),
    ...(key !== '' && (isPublic ? { kind: 'request', publicKey: key } : { kind: 'push', key })),
    ...(all.length > 0 && { repairs: all }),
  };
}

function readable(link: string): Reference | undefined {
  try {
    return parseReference(link);
  } catch {
    return undefined;
  }
}

/** A reader of the link sees that it is of a push, without a fragment of its own. */
export function isPushLink(link: string): boolean {
  const reference = readable(link);
  return reference !== undefined && reference.kind === undefined && !reference.repairs;
}

export function repairsOf(references: readonly Pick<Reference, 'repairs'>[]): Fact | undefined {
  const all = new Set(references.flatMap(({ repairs = [] }) => repairs));
  if (all.size === 0) return undefined;
  const name = references.length === 1 ? 'link-repaired' : 'links-repaired';
  return phrase(name, ...[...all].map((repair) => phrase(repair)));
}

/** The key replaces any fragment that the instance gave the link. */
export function withKey(link: string, key: string | undefined): string {
  return key === undefined ? link : `${link.replace(/#.*$/s, '')}#${key}`;
}

function parseAddress(text: string): Reference {
  if (text === '') throw usageError(phrase('link-empty'), phrase('use-link'));
  if (bareToken.test(text)) return { token: text, base: undefined };
  const { url, prefix, path, token } = addressParts(text) ?? {};
  if (!url || !token) throw usageError(phrase('no-link'), phrase('use-link'));
  if (url.username || url.password)
    throw usageError(phrase('link-with-login'), phrase('remove-login'));
  const kind = path === 'r' ? 'unknown' : path === 'api/v2/requests' ? 'request' : undefined;
  return { token, base: url.origin + prefix, ...(kind && { kind }) };
}

/** The text may have a fragment. A link that wraps an address does not count. */
function isAddress(text: string): boolean {
  const [address = ''] = text.split('#', 1);
  return !/^[^?]+https?:\//i.test(address) && addressParts(address) !== undefined;
}

/**
 * Matches `{base}/p/T`, `/f/T`, `/r/T`, `/api/v2/pushes/T` and `/api/v2/requests/T`, with what is appended; the scheme
 * is optional.
 */
function addressParts(text: string) {
  const url = /^[^/\s]+\//.test(text) ? parseWebUrl(withScheme(text)) : undefined;
  if (!url) return undefined;
  const parts = url.pathname.split('/');
  while (parts.at(-1) === '') parts.pop();
  // The first part that may be a token is the one that only `appended` follows.
  let first = parts.length - 1;
  while (first > 0 && appended.test(parts[first] ?? '')) first--;
  for (let index = first; index < parts.length; index++) {
    const token = parts[index]?.replace(/\.json$/, '') ?? '';
    const before = parts.slice(Math.max(1, index - 3), index).join('/');
    const [path] = /^api\/v2\/(?:pushes|requests)$|(?<![^/])[pfr]$/.exec(before) ?? [];
    if (path === undefined || !bareToken.test(token)) continue;
    const prefix = parts.slice(0, index - path.split('/').length).join('/');
    return { url, prefix, path, token };
  }
  return undefined;
}

/**
 * Finds the link for people of a push or request that was just created: `html_url` of the response, else the answer of
 * `preview`, else an address built as the reference does, with a `doubt` to warn of. `isElsewhere` if it leads to
 * another instance than the one that was asked. Later requests go to `base` and `token`, whatever the link is; the
 * token is empty if neither the response nor a link there has one. Never throws: without its link, the push would be
 * lost.
 */
export async function findLink(
  api: Pick<Api, 'preview'>,
  base: string,
  created: Pick<Push, 'html_url'> & Parameters<typeof pushLink>[1],
  what: 'push' | 'request' = 'push',
) {
  const { html_url, url_token: token } = created;
  const previewed = html_url ?? (token && (await api.preview(token).catch(() => undefined))?.url);
  if (!previewed) {
    const link = what === 'request' ? `${base}/r/${token}` : pushLink(base, created);
    return { link, token, doubt: phrase('link-built'), isElsewhere: false };
  }
  const doubt = elsewhere(base, previewed, what);
  const isElsewhere = doubt !== undefined;
  const inLink = isElsewhere ? undefined : readable(previewed)?.token;
  return { link: previewed, token: token || (inLink ?? ''), ...(doubt && { doubt }), isElsewhere };
}

/** `?locale=` selects the language of the page (docs/wire.md, "Tokens and addresses"). */
export function linkIn(locale: string | undefined, link: string): string {
  if (locale === undefined) return link;
  const url = new URL(link);
  url.searchParams.set('locale', locale);
  return webAddress(url.href) ?? link;
}

/**
 * States that a link is not below the address of the instance; undefined if it is.
 * @param link as `webAddress` returns it
 */
export function elsewhere(
  base: string,
  link: string,
  created?: 'push' | 'request',
): Fact | undefined {
  const own = webAddress(`${base}/`) ?? `${base}/`;
  if (link.startsWith(own)) return undefined;
  const [of = '', ours] = [link, own].map((address) => /^https?:..[^/?#]*/.exec(address)?.[0]);
  return phrase('link-elsewhere', of, of === ours ? base : `${ours}`, created ?? '');
}
