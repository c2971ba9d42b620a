import { isShellSafe, parseWebUrl } from '../../contract/address';
import { API_PATH } from '../../contract/api';
import type { HttpRequest, HttpResponse, Transport } from '../../platform/context';
import { CliError, failedError, type Hint, phrase } from '../../platform/errors';
import type { HintName } from '../../words/hints';
import { discardBody, header } from './response';

export interface RedirectRules {
  readonly most: number;
  tooMany(status: number): CliError;
  /**
   * Returns the HTTP request to send next; undefined to return the redirect itself.
   * @throws CliError for a redirect that must not be followed
   */
  next(location: string, request: HttpRequest, status: number): HttpRequest | undefined;
}

/** @throws TransportError; CliError for a redirect that must not be followed, or too many */
export async function follow(
  send: Transport,
  request: HttpRequest,
  { most, tooMany, next }: RedirectRules,
): Promise<HttpResponse> {
  let current = request;
  for (let hop = 0; ; hop++) {
    const response = await send(current);
    const { status } = response;
    const location = header(response, 'location');
    if (![301, 302, 303, 307, 308].includes(status) || location === undefined) return response;
    let following: HttpRequest | undefined;
    try {
      following = next(location, current, status);
    } catch (error) {
      await discardBody(response.body).catch(() => {});
      throw error;
    }
    if (following === undefined) return response;
    await discardBody(response.body);
    if (hop === most) throw tooMany(status);
    current = following;
  }
}

/** Follows redirects within an origin only, since calls of the API have a token and a passphrase. */
export const withinOrigin: RedirectRules = {
  most: 5,
  tooMany: (status) => failedError(phrase('redirects-too-often'), { status }),
  next: (location, request, status) => {
    const from = new URL(request.url);
    const to = parseWebUrl(location, from);
    if (to === undefined) return undefined;
    if (isAccessLogin(to, from)) throw accessLogin(to, request, status);
    if (/\/(first_run|sign_in|login)(\/|$)/.test(to.pathname))
      throw failedError(phrase('setup-redirect'), { status, hints: phrase('finish-setup') });
    if (to.username || to.password) return undefined;
    if (to.origin !== from.origin) throw new LeavesOrigin(from, to, status);
    // 301, 302 and 303 turn a POST into a GET (RFC 9110, 15.4), which creates nothing.
    const keepsMethod = request.method === 'GET' || status === 307 || status === 308;
    return keepsMethod ? { ...request, url: to.href } : undefined;
  },
};

/** Thrown for a redirect to another origin, to which the instance may have moved. */
export class LeavesOrigin extends CliError {
  readonly base: string;

  /** @param advice what to do if the other origin is the user's instance */
  constructor(
    private readonly from: URL,
    private readonly to: URL,
    override readonly status: number,
    advice: (base: string) => Hint = (base) => phrase('use-address', base),
  ) {
    const path = to.pathname.split(API_PATH);
    const base = to.origin + (path.length > 1 ? (path[0] ?? '') : '');
    const fact = phrase('leaves-origin', from.host, `${to.protocol}//${to.host}`);
    const hints = isShellSafe(base) ? advice(base) : phrase('check-address');
    super('failed', fact, { status, hints });
    this.base = base;
  }

  withAdvice(advice: (base: string) => Hint): LeavesOrigin {
    return new LeavesOrigin(this.from, this.to, this.status, advice);
  }
}

// Cloudflare Access, oauth2-proxy, Authelia, identity-aware proxies of clouds, and servers that require client
// certificates let nobody through to an instance who has not logged in to them.

function isAccessLogin(to: URL, from: URL): boolean {
  if (/^\/(cdn-cgi\/access|oauth2)\//.test(to.pathname)) return true;
  if (to.origin === from.origin) return false;
  const path = /(^|[/_-])(log-?in|sign[_-]?in|auth|authorize|sso|saml2?)([/_.]|$)/i;
  const back = ['rd', 'redirect_uri', 'redirect_url', 'return_to', 'SAMLRequest'];
  return path.test(to.pathname) || back.some((name) => to.searchParams.has(name));
}

function accessLogin(to: URL, { url, headers }: HttpRequest, status: number): CliError {
  const from = new URL(url);
  const elsewhere = to.origin === from.origin ? '' : to.host;
  const cloudflare =
    /(^|\.)cloudflareaccess\.com$/.test(to.hostname) || to.pathname.startsWith('/cdn-cgi/');
  return failedError(phrase('login-redirect', from.host, elsewhere), {
    status,
    hints: phrase(loginHint(cloudflare, Object.keys(headers))),
  });
}

export function loginHint(cloudflare: boolean, headers: readonly string[]): HintName {
  if (!cloudflare) return 'send-headers';
  return headers.includes('cf-access-client-id') ? 'check-service-token' : 'make-service-token';
}
