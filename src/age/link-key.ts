/**
 * The key of a link as a regular expression: 16 bytes in base64url (docs/encryption.md, "Modes"). The last character
 * holds only two bits, so that only four characters are canonical in its place.
 */
export const LINK_KEY = /[\w-]{21}[AQgw]/;

const WHOLE = new RegExp(`^${LINK_KEY.source}$`);

/** Matches a key after `#`, or after `%23`, which a mail gateway may write instead; `_` may be of a format. */
const AFTER_HASH = /(?:#|%(?:25)*23)([\w-]{22})(?=_*(?:[^\w-]|$))/;
const ALONE = new RegExp(`^[^\\w-]*(${LINK_KEY.source})[^\\w-]*$`);

/** Returns the link key in typed or pasted text. A key after `#` may be damaged: only its length is checked. */
export function linkKeyIn(text: string): string | undefined {
  return (AFTER_HASH.exec(text) ?? ALONE.exec(text))?.[1];
}

/**
 * Returns the words in typed or pasted text, in lower case. Messengers and keyboards make dashes of hyphens, add quotes
 * and periods, and put accents or capitals on letters, so that everything but letters separates words.
 */
export function wordsIn(text: string): string[] {
  const plain = text.normalize('NFKD').replace(/\p{M}+/gu, '');
  return plain.toLowerCase().match(/\p{L}+/gu) ?? [];
}

/** Returns the Unicode forms of a passphrase, since systems encode the same characters in different ways. */
export function formsOf(passphrase: string): string[] {
  return [...new Set([passphrase.normalize('NFC'), passphrase, passphrase.normalize('NFD')])];
}

export function isLinkKey(text: string): boolean {
  return WHOLE.test(text);
}

/** The scrypt work factor of a link key. It is low, since stretching a random key of 128 bits adds nothing. */
export const LINK_WORK = 10;
