import type { Entry } from '../cli/terminal/output';
import { printError } from '../keep/print-error';
import { ExitWith, usageError } from '../platform/errors';
import { findProgram } from '../platform/find-program';

/**
 * @param hint what was not done yet
 * @throws ExitWith with the status of shells for a program that is not there or cannot be run; the error is printed
 * already
 */
export async function commandProgram(
  { context, say }: Entry,
  name: string,
  hint: string,
): Promise<string> {
  const program = await findProgram(name, context);
  if ('file' in program) return program.file;
  const what = program.status === 127 ? `command not found: "${name}"` : `cannot run "${name}"`;
  await printError(context, usageError(what, hint), say.manner);
  throw new ExitWith(program.status);
}
