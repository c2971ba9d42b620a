import { boundedWrite, breakLine } from '../cli/terminal/bounded-write';
import type { Context, Output } from '../platform/context';
import { type CliError, failedError, phrase } from '../platform/errors';
import { codeOf, whyUnwritable } from '../platform/files/file-error';

/** Returns the error instead of throwing it, so that the caller can save what was not printed. */
export async function printResult(context: Context, bytes: string): Promise<CliError | undefined> {
  const { stdout, stderr } = context;
  const code = await tryWrite(context, stdout, bytes);
  const isPartlyWritten = code !== 'closed' && code !== 'EPIPE' && !stdout.isTTY;
  if (isPartlyWritten && bytes !== '' && !bytes.endsWith('\n')) breakLine(stderr);
  if (code === undefined) return undefined;
  return failedError(phrase('stdout-unwritable', whyUnwritable(code)));
}

/** Returns the code of the error if writing failed. */
export async function tryWrite(
  { signal }: Context,
  output: Output,
  data: string,
): Promise<string | undefined> {
  try {
    await boundedWrite(output, data, signal);
    return undefined;
  } catch (error) {
    return codeOf(error) ?? 'error';
  }
}
