import type { CliError, Fact } from '../platform/errors';

/** The tables of words are loaded when the first sentence is made. */
export const words = () => import('./report-error');

/** The hint of an error is left out. */
export async function inWords(what: CliError | Fact): Promise<string> {
  return typeof what === 'string' ? what : (await words()).wordsOf(what);
}

/** An error has its hint, as at the end of a run. */
export async function asReported(failure: CliError): Promise<string> {
  return (await words()).failureText(failure, { json: false, debug: false });
}
