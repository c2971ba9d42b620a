import { usageError } from '../platform/errors';

/**
 * Splits a command into words, as `token-command` documents it: at spaces, except in quotes. Nothing is expanded. Single
 * quotes keep every character; in double quotes a backslash keeps a double quote or backslash, outside any character.
 * @param from what an error calls the command
 * @throws CliError (usage) for an open quote or no word
 */
export function commandWords(text: string, from: string): readonly [string, ...string[]] {
  const parts = /\s+|'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([\s\S])|([^\s'"\\]+)|([\s\S])/g;
  const words: string[] = [];
  let word: string | undefined;
  const end = () => {
    if (word !== undefined) words.push(word);
    word = undefined;
  };
  for (const [, single, double, escaped, bare, open] of text.matchAll(parts)) {
    if (open !== undefined) throw usageError(`${from} has a quote or backslash without its end`);
    const piece = single ?? double?.replace(/\\(["\\])/g, '$1') ?? escaped ?? bare;
    if (piece === undefined) end();
    else word = (word ?? '') + piece;
  }
  end();
  const [first, ...rest] = words;
  if (!first) throw usageError(`${from} names no program`);
  return [first, ...rest];
}
