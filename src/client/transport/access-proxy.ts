import type { HttpRequest } from '../../platform/context';
import { type CliError, failedError, phrase } from '../../platform/errors';
import type { StepName } from '../../words/steps';

// Proxies that let nobody through to an instance who has not logged in to them: Cloudflare Access, oauth2-proxy, Authelia,
// identity-aware proxies of clouds, or a server that requires client certificates.

/** Whether a redirect leads to the login page of an access proxy. */
export function isAccessLogin(to: URL, from: URL): boolean {
  if (/^\/(cdn-cgi\/access|oauth2)\//.test(to.pathname)) return true;
  if (to.origin === from.origin) return false;
  const path = /(^|[/_-])(log-?in|sign[_-]?in|auth|authorize|sso|saml2?)([/_.]|$)/i;
  const back = ['rd', 'redirect_uri', 'redirect_url', 'return_to', 'SAMLRequest'];
  return path.test(to.pathname) || back.some((name) => to.searchParams.has(name));
}

/** The error for a redirect to such a page. */
export function accessLogin(to: URL, { url, headers }: HttpRequest, status: number): CliError {
  const from = new URL(url);
  const other = to.origin === from.origin ? '' : to.host;
  const cloudflare =
    /(^|\.)cloudflareaccess\.com$/.test(to.hostname) || to.pathname.startsWith('/cdn-cgi/');
  return failedError(phrase('login-redirect', from.host, other), {
    status,
    steps: phrase(loginStep(cloudflare, Object.keys(headers))),
  });
}

export function loginStep(cloudflare: boolean, headers: readonly string[]): StepName {
  if (!cloudflare) return 'send-headers';
  return headers.includes('cf-access-client-id') ? 'check-service-token' : 'make-service-token';
}
