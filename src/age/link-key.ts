/**
 * The key of a link as a regular expression: 16 bytes in base64url (docs/encryption.md, "Modes"). The last character
 * holds two bits, so that most others in its place are not canonical.
 */
export const LINK_KEY = /[\w-]{21}[AQgw]/;

const WHOLE = new RegExp(`^${LINK_KEY.source}$`);

/** A gateway may have written `%23` for `#`. */
const AFTER_HASH = /(?:#|%(?:25)*23)([\w-]{22})(?![\w-])/;
const ALONE = new RegExp(`^[^\\w-]*(${LINK_KEY.source})[^\\w-]*$`);

/** The key of a link in a text that was typed or pasted. A key after `#` may be damaged. */
export function linkKeyIn(text: string): string | undefined {
  return (AFTER_HASH.exec(text) ?? ALONE.exec(text))?.[1];
}

/**
 * The words in a text that was typed or pasted, in lower case. Everything but letters separates them: messengers and keyboards
 * make dashes of hyphens, add quotes and periods, and put accents or capitals on letters.
 */
export function wordsIn(text: string): string[] {
  const plain = text.normalize('NFKD').replace(/\p{M}+/gu, '');
  return plain.toLowerCase().match(/\p{L}+/gu) ?? [];
}

/** A passphrase of age as its sender may have typed it: the same characters have other code points on other systems. */
export function formsOf(passphrase: string): string[] {
  return [...new Set([passphrase.normalize('NFC'), passphrase, passphrase.normalize('NFD')])];
}

export function isLinkKey(text: string): boolean {
  return WHOLE.test(text);
}

/** A link key is random, so that stretching it further would add nothing. */
export const LINK_WORK = 10;
