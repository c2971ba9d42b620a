// What the storage of this tab keeps from one page for the next one. Browsers may allow none.

/** The item with the key of a push until its link is shown; empty if the form did not encrypt. */
export const KEY_ITEM = 'pwpush-key';

/** Key words that were typed before the secret was shown, for the page that decrypts it. */
const wordsItem = () => `pwpush-words ${location.pathname}`;

/** Without storage, the next page asks for them. */
export function keepWords(words: string): void {
  try {
    sessionStorage.setItem(wordsItem(), words);
  } catch {}
}

/** '' if there are none. They are taken out of the storage. */
export function takeWords(): string {
  try {
    const words = sessionStorage.getItem(wordsItem()) ?? '';
    sessionStorage.removeItem(wordsItem());
    return words;
  } catch {
    return '';
  }
}
