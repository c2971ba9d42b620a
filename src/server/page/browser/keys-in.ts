import { formsOf, isLinkKey, linkKeyIn, wordsIn } from '../../../age/link-key';
import { find } from './dom';

/** A text of fewer words counts as a passphrase: generated passphrases have five. */
export const FEWEST_WORDS = 6;

/**
 * Returns the keys that a fragment, a pasted link or a field may mean, the most likely first: mail gateways append to
 * links, and people type words in other ways (`wordsIn`).
 */
export function keysIn(text: string): string[] {
  const typed = text.trim();
  const words = wordsIn(typed);
  const likely = linkKeyIn(typed) ?? (words.length < FEWEST_WORDS ? '' : words.join('-'));
  return [...new Set([likely, ...formsOf(typed)])].filter((key) => key !== '');
}

/** Says in `line` whether the link of the page has a link key, and returns whether it has. */
export function reportKey(line: HTMLElement): boolean {
  const { found = '', missing = '', damaged = '' } = line.dataset;
  const { hash } = location;
  const has = keysIn(hash).some(isLinkKey);
  find(line, 'span').textContent = has ? found : hash === '' ? missing : damaged;
  line.className = has ? 'quiet' : 'problem';
  return has;
}
