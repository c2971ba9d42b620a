import { LINK_WORK } from './link-key';

export type SealedWith = 'link' | 'words' | 'recipient';

export function isArmored(text: string): boolean {
  return /^-----BEGIN AGE ENCRYPTED FILE-----\r?\n/.test(text.trimStart());
}

/** In characters of armor. The rest, which may be a million empty lines, is not searched for stanzas. */
const HEADER_LENGTH = 64 * 1024;

/**
 * Returns how the public keys begin to which armor is encrypted: `ssh-ed25519`, `ssh-rsa`, or `age1…` for age and its
 * plugins; none for armor with a passphrase. Stanzas `…-grease`, which rage adds, are for no key.
 */
export function recipientKinds(armor: string): string[] {
  if (sealedWith(armor) !== 'recipient') return [];
  const [, ...lines] = armor.trimStart().slice(0, HEADER_LENGTH).split(/\r?\n/);
  const [header = ''] = Buffer.from(lines.join(''), 'base64').toString('latin1').split('\n---');
  const types = [...header.matchAll(/^-> (?!\S+-grease\b)(ssh-(?:ed25519|rsa) )?/gm)];
  return [...new Set(types.map(([, ssh]) => ssh?.trimEnd() ?? 'age1…'))];
}

/** Returns what decrypts a text, by the first stanza of its age header; undefined for a text that is not encrypted. */
export function sealedWith(text: string): SealedWith | undefined {
  if (!isArmored(text)) return undefined;
  // The first two lines of armor hold the beginning of the first stanza.
  const [, first = '', second = ''] = text.trimStart().slice(0, 200).split(/\r?\n/, 3);
  const header = Buffer.from(first + second, 'base64').toString('latin1');
  const stanza = /^age-encryption\.org\/v1\n-> (?:scrypt \S+ (\d+)\n|\S+ )/.exec(header);
  if (!stanza) return undefined;
  if (stanza[1] === undefined) return 'recipient';
  return Number(stanza[1]) > LINK_WORK ? 'words' : 'link';
}
