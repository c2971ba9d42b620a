import type { Push } from '../contract';
import type { Api } from './client';

/** A new push's link, and what is to be said about it. */
export interface FoundLink {
  readonly link: string;
  readonly doubt?: string;
}

/**
 * The link of a push that was just created: the answer's `html_url`, else what `preview` says, else the
 * address the reference would give. Never fails: a created push whose link is lost is a lost secret.
 */
export async function findLink(api: Api, base: string, created: Push): Promise<FoundLink> {
  const { url_token: token } = created;
  const link =
    webAddress(created.html_url) ?? (token === '' ? undefined : await previewed(api, token));
  if (link === undefined) {
    const made = `${base}/p/${created.url_token}${created.retrieval_step ? '/r' : ''}`;
    return {
      link: made,
      doubt: 'the instance told no link; this one is made from its address and the token',
    };
  }
  const elsewhere = elsewhereThan(base, link);
  return elsewhere === undefined
    ? { link }
    : { link, doubt: `${elsewhere} where the push was made` };
}

/** Says of a link with another host, port or scheme where it leads; it begins a sentence. */
export function elsewhereThan(base: string, link: string): string | undefined {
  const [origin, own] = [new URL(link).origin, new URL(base).origin];
  return origin === own ? undefined : `the link is on ${origin}, not on ${own}`;
}

async function previewed(api: Api, token: string): Promise<string | undefined> {
  try {
    return webAddress((await api.preview(token)).url);
  } catch {
    return undefined;
  }
}

/** An absolute http(s) address on one line, as it came where that is safe to print. */
export function webAddress(text: string | null | undefined): string | undefined {
  try {
    const url = new URL(text ?? '');
    if (url.protocol !== 'https:' && url.protocol !== 'http:') return undefined;
    if (/^[\x21-\x7e]+$/.test(text ?? '')) return text ?? undefined;
    // A host name of another script is written in ASCII; white space and controls were never part of a link.
    return /[\s\p{C}]/u.test(text ?? '') ? undefined : url.href;
  } catch {
    return undefined;
  }
}
