import type { CliError, Fact } from '../platform/errors';

/** The tables of words are loaded when one of their rows is said. */
const words = () => import('./report-error');

/** What an error or a fact says, without what to do. */
export async function inWords(what: CliError | Fact): Promise<string> {
  return typeof what === 'string' ? what : (await words()).wordsOf(what);
}

/** An error with what to do, as it would be reported at the end. */
export async function asReported(failure: CliError): Promise<string> {
  return (await words()).failureText(failure, { json: false, debug: false });
}
