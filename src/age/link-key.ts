/**
 * The key of a link as a regular expression: 16 bytes in base64url (docs/encryption.md, "Modes"). The last character
 * holds two bits, so that most others in its place are not canonical.
 */
export const LINK_KEY = /[\w-]{21}[AQgw]/;

const WHOLE = new RegExp(`^${LINK_KEY.source}$`);

export function isLinkKey(text: string): boolean {
  return WHOLE.test(text);
}

/** The scrypt work factor of link keys, whose strength is in the key. */
export const LINK_WORK = 10;
