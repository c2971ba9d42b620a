/*
 * Key words that were typed before the secret was shown, in the storage of this tab, for the page that decrypts it. They
 * are taken out as soon as that is there.
 */

const item = () => `pwpush-words ${location.pathname}`;

/** Without storage, the next page asks for them. */
export function keepWords(words: string): void {
  try {
    sessionStorage.setItem(item(), words);
  } catch {}
}

/** '' if there are none. */
export function takeWords(): string {
  try {
    const words = sessionStorage.getItem(item()) ?? '';
    sessionStorage.removeItem(item());
    return words;
  } catch {
    return '';
  }
}
