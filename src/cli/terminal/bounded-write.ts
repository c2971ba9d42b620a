import type { Output } from '../../platform/context';
import { raceWithLimit } from '../../platform/files/abort';
import { codeOf } from '../../platform/files/file-error';
import { GRACE } from '../../platform/interrupts';

/**
 * Settles as `work` does, but waits no longer than `GRACE.write` after `signal` has aborted.
 * @throws an error with the code `interrupted` when that time is over; the work goes on
 */
export function boundedByInterrupt<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return raceWithLimit(work, { signal, milliseconds: GRACE.write }, () => {
    throw blocked();
  });
}

const inLine = new WeakSet<Output>();

/**
 * Makes the next text on `output` begin on a line of its own: something without a final line end went to another
 * stream, which may lead to the same terminal or file (`2>&1`).
 */
export function breakLine(output: Output): void {
  inLine.add(output);
}

export function lineStart(output: Output): string {
  return inLine.delete(output) ? '\n' : '';
}

/** Folds lines at spaces, best between the parts of `a · b`. Links stay whole, and so do indented lines, which are to be copied. */
export function folded(
  text: string,
  { isTTY, columns }: Pick<Output, 'isTTY' | 'columns'>,
): string {
  if (!isTTY || text.length <= columns) return text;
  const parts = `.{1,${columns}}(?=$)|.{1,${columns - 2}} ·|.{1,${columns}}`;
  const part = new RegExp(`(${parts})(?: |$)`, 'g');
  const fold = (line: string) =>
    /^( |$)/.test(line) ? line : line.replace(part, '$1\n').trimEnd();
  return text.split('\n').map(fold).join('\n');
}

const blockedOutputs = new WeakSet<Output>();

/**
 * Writes, and after an interrupt gives up within `GRACE.write`. An output that timed out once is not tried again, so
 * that many results can still be saved elsewhere.
 * @throws the error of the write, or one with the code `interrupted`
 */
export async function boundedWrite(
  output: Output,
  data: string | Uint8Array,
  signal: AbortSignal,
): Promise<void> {
  if (blockedOutputs.has(output)) throw blocked();
  try {
    const start = lineStart(output);
    if (start !== '') await boundedByInterrupt(output.write(start), signal);
    await boundedByInterrupt(output.write(data), signal);
  } catch (error) {
    if (codeOf(error) === 'interrupted') blockedOutputs.add(output);
    throw error;
  }
}

function blocked(): Error {
  return Object.assign(new Error('the output is blocked'), { code: 'interrupted' });
}
