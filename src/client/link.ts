import { LONGEST_LINK, parseWebUrl, pushLink, webAddress, withScheme } from '../contract/address';
import type { Push } from '../contract/decode';
import { withoutBeginning, withoutEnd } from '../contract/link-marks';
import { orUndefined } from '../contract/or-undefined';
import { type Fact, phrase, usageError } from '../platform/errors';
import type { FactName } from '../words/facts';
import type { Api } from './client';

/** A user names a push or request by its token, or by an address, which also names the instance. */
export interface Reference {
  readonly token: string;
  /** The address of the instance without a final slash; undefined for a bare token. */
  readonly base: string | undefined;
  /** The key of an encrypted push, from the fragment of its link. It is never sent, and may be damaged. */
  readonly key?: string;
  /**
   * The fragment tells the kind, so that no instance learns what its user opens. Without it, `/r/T` is `unknown`, since
   * URL pushes and requests share this form; a bare token and other addresses of a push have no kind.
   */
  readonly kind?: 'push' | 'request' | 'unknown';
  /** The public key to which the answer of a request is encrypted, from the fragment of its link. It may be damaged. */
  readonly publicKey?: string;
  readonly repairs?: readonly FactName[];
}

const bareToken = /^[\w-]{1,128}$/;
/** Matches what pages and API v1 append to the path of a push. */
const appended = /^(?:r|preview|passphrase|audit)(?:\.json)?$/;

/** Matches `[text](link)` of Markdown and `<link|text>` of Slack. */
const WITH_TEXT = /^(?:\[[^\]]*\]\(([^()]+)\)|<([^<>|]+)\|)/;
/** Matches addresses within a text of several words, also where spaces came between one and its key. */
const ADDRESSES = /https?:\/\/[^\s<>|"]+(?:\s+#(?=[\w-]{22}|age1)[^\s<>|"]+)?/gi;
/** Matches the end of a line that quoted-printable broke (RFC 2045, 6.7). */
const SOFT_BREAK = /=[\t ]*\r?\n(?=\S)/g;

/**
 * Returns the only link among the words of a text, else the whole text.
 * @throws CliError (usage) for several links
 */
function linkWithin(text: string): string {
  const found = /\s/.test(text.trim()) ? (text.match(ADDRESSES) ?? []) : [];
  const links = new Map(
    found.flatMap((address) => {
      const { base, token, key, publicKey } = readable(address) ?? {};
      return token === undefined ? [] : [[`${base} ${token} ${key} ${publicKey}`, address]];
    }),
  );
  if (links.size > 1) throw usageError(phrase('several-links'), phrase('use-one-link'));
  const [link = text] = links.values();
  return link;
}

/** Removes characters of the surrounding text that were copied with a link, at its ends or before its fragment. */
function withoutSurroundings(pasted: string): string {
  const text = pasted.trim();
  // Compiling the expressions takes a millisecond, so that a text without surrounding characters returns first.
  if (/^[a-z\d][!-~]*[\w/-]$/i.test(text) && !/(?:%..|[^\w/-]|\/r_+)(?:#|$)/.test(text))
    return text;
  const [, markdown, slack] = WITH_TEXT.exec(text) ?? [];
  const link = withoutBeginning(markdown ?? slack ?? text);
  const [, address = '', fragment = ''] = /^([^#]*)(.*)$/s.exec(link) ?? [];
  return withoutEnd(withoutEnd(address) + fragment);
}

const MOST_WRAPPERS = 5;

/**
 * Each row matches the addresses of a gateway that wraps links, and finds the links in one. Nothing asks the hosts of
 * the gateways, since they would see the link. Links of Proofpoint are decoded as its own decoder does it
 * (https://help.proofpoint.com, "URL Defense decoder").
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
 * Finds addresses in the parameters and at the end of the path, where Safe Links, Teams, Cisco, Barracuda, Sophos (in
 * base64), Check Point (`/___LINK___.BYTES`), Google, Facebook and most other gateways put the wrapped address.
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

const decoded = (text: string) => orUndefined(() => decodeURIComponent(text)) ?? text;

/** The index of a character, plus 2, is the length of a run in version 3 of Proofpoint. */
const RUNS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Inserts the characters that version 3 of Proofpoint moves to the end of an address. */
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
 * @throws CliError (usage) for any other text; the message does not quote the text
 */
export function parseReference(pasted: string): Reference {
  if (pasted.length > 4 * LONGEST_LINK) throw usageError(phrase('no-link'), phrase('use-link'));
  const within = linkWithin(pasted.replace(SOFT_BREAK, ''));
  const { text, repairs: own } = repaired(within);
  const around = within !== pasted && !own.includes('repaired-surroundings');
  const repairs = around ? ['repaired-surroundings' as const, ...own] : own;
  const [, address = '', fragment = ''] = /^([^#]*)#?(.*)$/s.exec(text) ?? [];
  // A fragment that is neither a public key nor a link key counts as a damaged key.
  const tail = /^(?:age1[a-z\d]*|[\w-]{22}(?=_*(?:[^\w-]|$))|[^&?]+|.*)/is;
  const [key = ''] = (fragment && tail.exec(fragment)) || [];
  const all = key === fragment ? repairs : [...repairs, 'repaired-tail' as const];
  const isPublic = /^age1/i.test(key);
  return {
    ...parseAddress(address),
    ...(key !== '' && (isPublic ? { kind: 'request', publicKey: key } : { kind: 'push', key })),
    ...(all.length > 0 && { repairs: all }),
  };
}

const readable = (link: string) => orUndefined(() => parseReference(link));

/** Returns whether a client recognizes a link without a fragment as that of a push. */
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
  if (/\.translate\.goog$/.test(url.hostname))
    throw usageError(phrase('link-translated'), phrase('use-original-link'));
  const kind = path === 'r' ? 'unknown' : path === 'api/v2/requests' ? 'request' : undefined;
  return { token, base: url.origin + prefix, ...(kind && { kind }) };
}

/** Returns whether a text is an address, which may have a fragment. An address that wraps another does not count. */
function isAddress(text: string): boolean {
  const [address = ''] = text.split('#', 1);
  return !/^[^?]+https?:\//i.test(address) && addressParts(address) !== undefined;
}

/** Matches `{base}/[pfr]/T` and `{base}/api/v2/(pushes|requests)/T`, maybe without a scheme; `appended` may follow. */
function addressParts(text: string) {
  // A host before a colon and two slashes would be a scheme with text before it.
  const isPlain = /^(?:https?:\/\/)?[^/\s]+(?<!:)\//i.test(text);
  const url = isPlain ? parseWebUrl(withScheme(text)) : undefined;
  if (!url) return undefined;
  const parts = url.pathname.split('/');
  while (parts.at(-1) === '') parts.pop();
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
 * Finds the link for people of a push or request that was just created: `html_url` of the response, else the URL that
 * `preview` returns, else an address built as the reference implementation builds it, with a `doubt` to warn of.
 * `isElsewhere` means that the link leads to another instance. Whatever the link, later calls use `base` and `token`,
 * which is empty if neither the response nor a link to this instance has one. Never throws: the push would be lost.
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
  const inLink = token || isElsewhere ? token : (readable(previewed)?.token ?? '');
  return { link: previewed, token: inLink, ...(doubt && { doubt }), isElsewhere };
}

export function linkIn(locale: string | undefined, link: string): string {
  if (locale === undefined) return link;
  const url = new URL(link);
  url.searchParams.set('locale', locale);
  return webAddress(url.href) ?? link;
}

/**
 * Returns the fact that a link is not below the address of the instance; undefined if it is.
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
