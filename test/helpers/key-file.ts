import { readFileSync } from 'node:fs';

/** The keys in the text of a key file, in base64, newest first; without the notes of what data they open. */
export const keysIn = (text: string): string[] =>
  text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));

export const keysOf = (path: string): string[] => keysIn(readFileSync(path, 'utf8'));
