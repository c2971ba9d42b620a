import { isLoopback, parseWebUrl, withScheme } from '../contract/address';
import { tried, usageError } from '../platform/errors';

/** Matches our own service's tokens, and words that may be tokens: with an underscore, or capitals and digits. */
const TOKEN = /^pwp_|^[\w-]*_[\w-]*$|^(?=.*[A-Z])(?=.*\d)[\w-]{16,}$/;

/**
 * Normalizes an instance's base address as typed: origin and path without a final slash. The default scheme is http for
 * loopback, https otherwise.
 * @throws CliError (usage) for another scheme, a token, a user name, query or fragment; the message does not quote it
 */
export function parseBase(text: string): string {
  if (TOKEN.test(text.trim()))
    throw usageError(
      'that is a token, not the address of an instance; it was not sent',
      'the address is such as https://pwpush.example; the token is asked for after it',
    );
  const url = parseWebUrl(withScheme(text.trim()));
  if (url === undefined)
    throw usageError(
      'the address of the instance is not an http or https URL',
      'use an address such as https://pwpush.example',
    );
  if (url.username || url.password)
    throw usageError(
      'the address of the instance contains a user name or password',
      'remove what is before the @',
    );
  if (url.search || url.hash)
    throw usageError(
      'the address of the instance has a query or fragment',
      'remove the ? or # and what follows',
    );
  return url.origin + url.pathname.replace(/\/+$/, '').replace(/\/api\/v2$/, '');
}

/** Returns whether an address is `base`; false for an invalid one. */
export function isAt(address = '', base: string): boolean {
  return tried(() => parseBase(address)) === base;
}

/** Returns whether an address has the origin of `base`; false for an invalid one. */
export function isIn(address = '', base: string): boolean {
  const other = tried(() => parseBase(address));
  return typeof other === 'string' && new URL(other).origin === new URL(base).origin;
}

/** Returns whether others can read what is sent to `base`: over plain http, except on loopback. */
export function travelsOpen(base: string): boolean {
  const url = new URL(base);
  return url.protocol === 'http:' && !isLoopback(url.hostname);
}
