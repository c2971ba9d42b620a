import type { HttpRequest } from '../../platform/context';
import { type CliError, failedError } from '../../platform/errors';
import type { WholeResponse } from './response';

// Proxies that let nobody through to an instance who has not logged in to them: Cloudflare Access, oauth2-proxy, Authelia,
// identity-aware proxies of clouds, or a server that requires client certificates.

/** The beginning of a page is searched. */
const SEARCHED_BYTES = 16 * 1024;

const HINT =
  'send the headers that it requires (pwpush profile set headers-file PATH, PWPUSH_HEADERS_FILE or --headers-file) or a client certificate (--cert, --cert-key); see ACCESS PROXIES in pwpush(1)';
const CLOUDFLARE =
  'create a service token of Cloudflare Access, put CF-Access-Client-Id and CF-Access-Client-Secret into a file that only you can read, and name it with pwpush profile set headers-file PATH or PWPUSH_HEADERS_FILE';
const REFUSED =
  'Cloudflare Access refused the service token: check both headers, its expiry, and that a policy with the action Service Auth includes it';
const CERTIFICATE = 'send a client certificate that it trusts, with --cert and --cert-key';

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
  const where = to.origin === from.origin ? '' : ` on ${to.host}`;
  const cloudflare =
    /(^|\.)cloudflareaccess\.com$/.test(to.hostname) || to.pathname.startsWith('/cdn-cgi/');
  return failedError(
    `an access proxy in front of ${from.host} redirects to its login page${where}; nothing was sent there`,
    { status, steps: hintFor(cloudflare, Object.keys(headers)) },
  );
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
    return failedError('the instance, or a proxy in front of it, requires a client certificate', {
      status,
      steps: CERTIFICATE,
    });
  const passes = (status >= 200 && status < 300) || status === 401 || status === 403;
  const cloudflare = /cloudflare access|\/cdn-cgi\/access\//i.test(text);
  const login = /type=["']?password|\b(log|sign)[ -]?in\b|single sign-on|<title>[^<]*\bSSO\b/i;
  if (!passes || !(cloudflare || login.test(text))) return undefined;
  return failedError(`the response is a login page, not one of the instance (${status})`, {
    status,
    steps: hintFor(cloudflare, headers),
  });
}

function hintFor(cloudflare: boolean, headers: readonly string[]): string {
  if (!cloudflare) return HINT;
  return headers.includes('cf-access-client-id') ? REFUSED : CLOUDFLARE;
}
