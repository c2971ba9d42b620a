import type { CliError, Fact } from '../platform/errors';

/** The words are loaded when there is something to say. */
const words = () => import('./report-error');

/** What an error or a fact says, for a note on the way. */
export async function inWords(what: CliError | Fact): Promise<string> {
  return (await words()).wordsOf(what);
}

/** An error as it is reported at the end, with what to do, for one on the way. */
export async function asReported(failure: CliError): Promise<string> {
  return (await words()).failureText(failure, { json: false, debug: false });
}
