import type { CliError, Fact } from '../platform/errors';

/** What an error or a fact says, for a note on the way. The words are loaded when there is something to say. */
export async function inWords(what: CliError | Fact): Promise<string> {
  return (await import('./report-error')).wordsOf(what);
}
