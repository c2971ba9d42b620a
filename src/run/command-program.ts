import type { Entry } from '../cli/terminal/output';
import { printError } from '../keep/print-error';
import { ExitWith, usageError } from '../platform/errors';
import { findProgram } from '../platform/find-program';

/**
 * @param hint says what was not done because of the error, such as 'nothing was sent'
 * @throws ExitWith after the error was printed, with 127 for a missing program or 126 for one that cannot be run
 */
export async function commandProgram(
  { context, say }: Entry,
  name: string,
  hint: string,
): Promise<string> {
  const program = await findProgram(name, context, true);
  if ('file' in program) return program.file;
  const what = program.status === 127 ? `command not found: "${name}"` : `cannot run "${name}"`;
  await printError(context, usageError(what, hint), say.manner);
  throw new ExitWith(program.status);
}
