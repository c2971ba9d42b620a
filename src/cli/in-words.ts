import type { CliError, Fact } from '../platform/errors';

/** The tables of words are loaded when the first sentence is made. */
export const words = () => import('./report-error');

/** Returns the text of an error without its hint. */
export async function inWords(what: CliError | Fact): Promise<string> {
  return typeof what === 'string' ? what : (await words()).wordsOf(what);
}
