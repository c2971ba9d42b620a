import type { HttpRequest } from '../../platform/context';
import { type CliError, failedError, phrase } from '../../platform/errors';
import type { StepName } from '../../words/steps';
import type { WholeResponse } from './response';

// Proxies that let nobody through to an instance who has not logged in to them: Cloudflare Access, oauth2-proxy, Authelia,
// identity-aware proxies of clouds, or a server that requires client certificates.

/** The beginning of a page is searched. */
const SEARCHED_BYTES = 16 * 1024;

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
    steps: phrase(stepFor(cloudflare, Object.keys(headers))),
  });
}

/**
 * The error for a page of an access proxy in the place of a response; undefined for anything else.
 * @param headers names of those that were sent
 */
export function accessPage(
  { status, body }: Pick<WholeResponse, 'status' | 'body'>,
  headers: readonly string[],
): CliError | undefined {
  const text = body.subarray(0, SEARCHED_BYTES).toString('latin1');
  if (!/^\s*<(!--|!doctype html|html|head)\b/i.test(text)) return undefined;
  // nginx, ssl_verify_client.
  if (status === 400 && /SSL certificate (was sent|error)/i.test(text))
    return failedError(phrase('certificate-needed-here'), {
      status,
      steps: phrase('send-certificate'),
    });
  const passes = (status >= 200 && status < 300) || status === 401 || status === 403;
  const cloudflare = /cloudflare access|\/cdn-cgi\/access\//i.test(text);
  const login = /type=["']?password|\b(log|sign)[ -]?in\b|single sign-on|<title>[^<]*\bSSO\b/i;
  if (!passes || !(cloudflare || login.test(text))) return undefined;
  return failedError(phrase('login-page', status), {
    status,
    steps: phrase(stepFor(cloudflare, headers)),
  });
}

function stepFor(cloudflare: boolean, headers: readonly string[]): StepName {
  if (!cloudflare) return 'send-headers';
  return headers.includes('cf-access-client-id') ? 'check-service-token' : 'make-service-token';
}
