import type { CliError, Fact } from '../platform/errors';

/** The tables of words are loaded when the first sentence is made. */
export const words = () => import('./report-error');

/** Returns the text of an error without its hint. */
export async function inWords(what: CliError | Fact): Promise<string> {
  return typeof what === 'string' ? what : (await words()).wordsOf(what);
}

/** Returns the text of an error with its hint, as at the end of a run. */
export async function asReported(failure: CliError): Promise<string> {
  return (await words()).failureText(failure, { json: false, debug: false });
}
