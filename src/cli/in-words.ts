import { CliError, type Fact } from '../platform/errors';

/** What an error or a fact says, for a note on the way. The words are loaded when there is something to say. */
export async function inWords(what: CliError | Fact): Promise<string> {
  if (what instanceof CliError) return (await import('./report-error')).worded(what).message;
  return (await import('./clauses')).clause(what);
}
