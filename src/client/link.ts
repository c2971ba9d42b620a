import { parseWebUrl, pushLink, webAddress, withScheme } from '../contract/address';
import type { Push } from '../contract/decode';
import { type Fact, phrase, usageError } from '../platform/errors';
import type { Repair } from '../platform/facts';
import type { Api } from './client';

/** A push or request as a user names it: by its token, or by an address that also names the instance. */
export interface Reference {
  readonly token: string;
  /** The instance's base address without a final slash; undefined for a bare token. */
  readonly base: string | undefined;
  /** The key to an encrypted push: the fragment, which is never sent; it may be damaged. */
  readonly key?: string;
  /**
   * The fragment decides, so that no instance is asked what its user opens. Without one, `unknown` for `/r/T`, which URL
   * pushes and requests have; missing for a bare token and the other addresses of a push.
   */
  readonly kind?: 'push' | 'request' | 'unknown';
  /** The public key in the link of a request, to which its answer is encrypted; it may be damaged. */
  readonly publicKey?: string;
  /** What of the pasted link was repaired. */
  readonly repairs?: readonly Repair[];
}

const TOKEN = '[A-Za-z0-9_-]{1,128}';
const bareToken = new RegExp(`^${TOKEN}$`);
/** `{base}/p/T`, `/f/T`, `/r/T`, `/api/v2/pushes/T` or `/api/v2/requests/T`, with what the pages and v1 append to it. */
const pushPath = new RegExp(
  `^(.*?)/(p|f|r|api/v2/(?:pushes|requests))/(${TOKEN})(?:\\.json)?(?:/(?:r|preview|passphrase|audit)(?:\\.json)?)*/*$`,
);

/** Opening brackets and quotes of any language, except the bracket of an IPv6 host such as `[::1]`. */
const BEFORE = /^(?:(?!\[[\da-f.]*:[\da-f:.]*\])[\p{Ps}\p{Pi}\p{Pf}\s<"'`*])+/iu;
/** Closing brackets and quotes, and punctuation that ends a sentence; not an ellipsis, which means that the link was cut. */
const AFTER =
  /(?:[\p{Ps}\p{Pe}\p{Pi}\p{Pf}\s>"'`*,;:!?\u3001\u3002\uff0c\uff01\uff1b\uff1f]|(?<!\.)\.(?!\.))+$/u;
/** A Markdown link: `[text](link)`. */
const MARKDOWN = /^\[[^\]]*\]\(([^()]+)\)/;

/** Strips the brackets, quotes and punctuation of the text that a link or token was copied from. */
function withoutSurroundings(pasted: string): string {
  const text = pasted.trim();
  // Nothing to strip: those expressions take a millisecond to make.
  if (/^\w.*[\w/=-]$/.test(text)) return text;
  return (MARKDOWN.exec(text)?.[1] ?? text).replace(BEFORE, '').replace(AFTER, '');
}

/** Mail gateways that wrap links, and what takes a link out again: without asking their hosts, which see it then. */
const wrappers = [
  ['repaired-outlook', safeLink],
  ['repaired-proofpoint', proofpointLink],
] as const;

function safeLink(text: string): string | undefined {
  const url = parseWebUrl(text);
  if (!url || !/(^|\.)safelinks\.protection\.[a-z0-9.]+$/.test(url.hostname)) return undefined;
  const link = url.searchParams.get('url') ?? undefined;
  return link?.includes('#') ? link : link && link + url.hash;
}

/** As its decoder does (https://help.proofpoint.com, "URL Defense decoder"). */
function proofpointLink(text: string): string | undefined {
  if (!/^https?:\/\/urldefense\.(proofpoint\.com|com|us)\/v\d\//i.test(text)) return undefined;
  const [, link, bytes = ''] = /\/v3\/__(.+?)__;([\w-]*)!/.exec(text) ?? [];
  if (link !== undefined) return withBytes(link, Buffer.from(bytes, 'base64url').toString());
  const found = parseWebUrl(text)?.searchParams.get('u') ?? undefined;
  if (!text.includes('/v2/') || found === undefined) return found;
  try {
    return decodeURIComponent(found.replaceAll('-', '%').replaceAll('_', '/'));
  } catch {
    return undefined;
  }
}

/** The letters for the length of a run, which is 2 or more. */
const RUNS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Puts the characters back that version 3 of Proofpoint moves to the end of an address. */
function withBytes(link: string, bytes: string): string {
  let at = 0;
  const characters = [...bytes];
  return link.replace(/^(https?:\/)(?!\/)/i, '$1/').replace(/\*(?:\*(.))?/g, (_, run?: string) => {
    const length = run === undefined ? 1 : RUNS.indexOf(run) + 2;
    at += length;
    return characters.slice(at - length, at).join('');
  });
}

/** A link without what gateways and the text around it made of it. */
function repaired(pasted: string): { readonly text: string; readonly repairs: readonly Repair[] } {
  const text = withoutSurroundings(pasted);
  const repairs: Repair[] = text === pasted.trim() ? [] : ['repaired-surroundings'];
  for (const [name, unwrap] of wrappers) {
    const link = unwrap(text);
    if (link === undefined) continue;
    const inner = repaired(link);
    return { ...inner, repairs: [...repairs, name, ...inner.repairs] };
  }
  if (text.includes('#') || !/%(25)*23/.test(text)) return { text, repairs };
  return { text: text.replace(/%(25)*23/, '#'), repairs: [...repairs, 'repaired-hash'] };
}

/** The key at the beginning of a fragment. Whatever else is there is a key that was damaged. */
function keyIn(fragment: string): string | undefined {
  const [key = fragment] = /^[\w-]{22}(?![\w-])|^[^&?]+/.exec(fragment) ?? [];
  return key || undefined;
}

/**
 * Parses a pasted link or token (docs/wire.md, "Tokens and addresses"), and repairs it (docs/encryption.md, "Links").
 * @throws CliError (usage) for anything else; the message does not quote it
 */
export function parseReference(pasted: string): Reference {
  const { text, repairs } = repaired(pasted);
  const [, address = '', fragment = ''] = /^([^#]*)#?(.*)$/s.exec(text) ?? [];
  const publicKey = /^age1[a-z\d]*/i.exec(fragment)?.[0];
  const key = publicKey ?? keyIn(fragment);
  const all: Repair[] = [...repairs];
  if (key !== undefined && key !== fragment) all.push('repaired-tail');
  return {
    ...parseAddress(address),
    ...(publicKey !== undefined && { kind: 'request', publicKey }),
    ...(publicKey === undefined && key !== undefined && { kind: 'push', key }),
    ...(all.length === 0 ? {} : { repairs: all }),
  };
}

/** Whether a link is that of a push to everybody who reads it, and has no fragment of its own. */
export function isPushLink(link: string): boolean {
  try {
    return parseReference(link).kind === undefined;
  } catch {
    return false;
  }
}

/** What was repaired of links; undefined if nothing was. */
export function repairsOf(references: readonly Reference[]): Fact | undefined {
  const all = new Set(references.flatMap(({ repairs = [] }) => repairs));
  if (all.size === 0) return undefined;
  const name = references.length === 1 ? 'link-repaired' : 'links-repaired';
  return phrase(name, ...[...all].map((one) => phrase(one)));
}

/** Adds the key to the link of a push, instead of any fragment that the instance gave it. */
export function withKey(link: string, key: string | undefined): string {
  return key === undefined ? link : `${link.replace(/#.*$/s, '')}#${key}`;
}

function parseAddress(text: string): Reference {
  if (text === '') throw usageError(phrase('link-empty'), phrase('use-link'));
  if (bareToken.test(text)) return { token: text, base: undefined };
  // The scheme is optional.
  const url = /^[^/\s]+\//.test(text) ? parseWebUrl(withScheme(text)) : undefined;
  const match = url && pushPath.exec(url.pathname);
  if (!url || !match?.[3]) throw usageError(phrase('no-link'), phrase('use-link'));
  if (url.username || url.password)
    throw usageError(phrase('link-with-login'), phrase('remove-login'));
  const [, prefix = '', path, token] = match;
  const kind = path === 'r' ? 'unknown' : path === 'api/v2/requests' ? 'request' : undefined;
  return { token, base: url.origin + prefix, ...(kind && { kind }) };
}

/**
 * The link of a push or request that was just created: `html_url` of the response, else the answer of `preview`, else an
 * address built as the reference does, and a `doubt` to warn of. Never throws: without its link, the push would be lost.
 */
export async function findLink(
  api: Pick<Api, 'preview'>,
  base: string,
  created: Pick<Push, 'html_url'> & Parameters<typeof pushLink>[1],
  what: 'push' | 'request' = 'push',
): Promise<{ readonly link: string; readonly doubt?: Fact }> {
  const { url_token: token } = created;
  const previewed = async () => (await api.preview(token).catch(() => undefined))?.url;
  const link =
    webAddress(created.html_url) ?? (token === '' ? undefined : webAddress(await previewed()));
  if (link === undefined) {
    return {
      link: what === 'request' ? `${base}/r/${token}` : pushLink(base, created),
      doubt: phrase('link-built'),
    };
  }
  const doubt = otherOrigin(base, link, what);
  return doubt === undefined ? { link } : { link, doubt };
}

/** The link to the page in that language (docs/wire.md, "Tokens and addresses"). */
export function linkIn(locale: string | undefined, link: string): string {
  if (locale === undefined) return link;
  const url = new URL(link);
  url.searchParams.set('locale', locale);
  return url.href;
}

/**
 * Compares a link's origin with that of the instance; if they differ, returns a fact that says so.
 * @param created what was just created there
 */
export function otherOrigin(
  base: string,
  link: string,
  created?: 'push' | 'request',
): Fact | undefined {
  // The usual case, without parsing them.
  if (link.startsWith(`${base}/`)) return undefined;
  const [origin, own] = [new URL(link).origin, new URL(base).origin];
  return origin === own ? undefined : phrase('link-elsewhere', origin, own, created ?? '');
}
