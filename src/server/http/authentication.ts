import type { Context } from 'hono';
import { limits } from '../../contract/api';
import type { AppOptions } from '../app-options';
import type { Owner } from '../owners/owners';
import type { Visitor } from '../rules/access';
import type { Opener } from '../rules/views';
import { malformed, notFound, ServiceRefusal } from '../service-errors';
import { type Env, visitorOf } from './env';
import { isPrefetch, tokenIn } from './request-origin';

/** Authenticates callers of the API by the token of their HTTP request. */
export function authentication({ owners, settings }: AppOptions) {
  /** @throws ServiceRefusal for an invalid token */
  async function visitor(c: Context<Env>): Promise<Visitor> {
    const token = tokenIn(c.req.header('authorization'), c.req.header('x-user-token'));
    // Other routes than `version` refuse an invalid token even if they need none, so that nobody takes it for valid.
    const owner = token === undefined ? undefined : await owners.authenticate(token);
    return visitorOf(c, settings, owner);
  }

  /** @throws ServiceRefusal without a token, unless the instance is anonymous */
  async function permitted(c: Context<Env>): Promise<Visitor> {
    const caller = await visitor(c);
    if (!caller.owner && !settings.anonymous) throw needsToken();
    return caller;
  }

  /** @throws ServiceRefusal without a token */
  async function signedIn(c: Context<Env>): Promise<Visitor & { readonly owner: Owner }> {
    const caller = await visitor(c);
    const { owner } = caller;
    if (!owner) throw needsToken();
    return { ...caller, owner };
  }

  /** @throws ServiceRefusal without a token, or with one that may not list */
  async function lister(c: Context<Env>): Promise<Owner> {
    const { owner } = await signedIn(c);
    const { scope } = owner;
    if (scope !== 'all')
      throw new ServiceRefusal('forbidden', 'This token can push only.', { scope });
    return owner;
  }

  return { visitor, permitted, signedIn, lister };
}

export function needsToken(): ServiceRefusal {
  const message = 'This requires an API token: send it as Authorization: Bearer.';
  return new ServiceRefusal('unauthorized', message);
}

/** Returns the `Opener` of what the path names. The passphrase is by default that of the query. */
export function openerOf(
  c: Context<Env>,
  visitor: Visitor,
  passphrase = c.req.query('passphrase') ?? '',
): Opener {
  const reserve = (bytes: number) => c.get('memory').add(bytes);
  return { urlToken: urlToken(c), visitor, passphrase, reserve };
}

/**
 * @param cost what the request uses up: the beginning of the message
 * @throws ServiceRefusal for a prefetch
 */
export function refusePrefetch(request: Request, cost: string): void {
  if (isPrefetch(request)) throw malformed(`${cost} and cannot be prefetched.`);
}

export function urlToken(c: Context<Env>): string {
  const token = c.req.param('token') ?? '';
  if (!/^[\w-]{1,128}$/.test(token)) throw notFound();
  return token;
}

export function pageNumber(c: Context<Env>): number {
  const { min, max, default: fallback } = limits.page;
  const text = c.req.query('page');
  if (text === undefined) return fallback;
  const page = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (page >= min && page <= max) return page;
  throw malformed(`page must be an integer from ${min} to ${max}.`);
}
