// Session storage passes keys from one page of the tab to the next one. Browsers may deny it.

/** This item holds the key of a new push until its link is shown; it is empty if the form did not encrypt. */
export const KEY_ITEM = 'pwpush-key';

/** Returns undefined if the browser denies session storage. */
export function storage(): Storage | undefined {
  try {
    return sessionStorage;
  } catch {
    return undefined;
  }
}

/** Returns the item that passes typed key words to the page that decrypts the secret. */
const wordsItem = () => `pwpush-words ${location.pathname}`;

/** Without storage, the next page asks for the words. */
export function keepWords(words: string): void {
  try {
    sessionStorage.setItem(wordsItem(), words);
  } catch {}
}

/** Removes the words from the storage and returns them, or ''. */
export function takeWords(): string {
  const words = storage()?.getItem(wordsItem()) ?? '';
  storage()?.removeItem(wordsItem());
  return words;
}
