import { isLinkKey } from '../../../age/link-key';

/**
 * The key in a fragment, a pasted link or a field: mail gateways append to links, and words are typed in any case, with
 * spaces or hyphens. Several where that is not certain, the more likely first.
 */
export function keysIn(text: string): string[] {
  const typed = text.trim();
  const linked = /(?:^|#|%23|%2523)([\w-]{22})(?![\w-])/.exec(typed)?.[1];
  const words = typed.toLowerCase().split(/[\s-]+/);
  const likely = linked ?? (words.length < 6 ? typed : words.join('-'));
  return [...new Set([likely, typed])].filter((key) => key !== '');
}

/** Says in a line of the page whether its link has the key, and returns it. */
export function tellKey(line: HTMLElement): boolean {
  const { found = '', missing = '', damaged = '' } = line.dataset;
  const { hash } = location;
  const has = keysIn(hash).some(isLinkKey);
  line.textContent = has ? found : hash === '' ? missing : damaged;
  line.className = has ? 'quiet' : 'problem';
  return has;
}
