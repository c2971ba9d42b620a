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

/** Outputs whose next text begins with a line end. */
const inLine = new WeakSet<Output>();

/**
 * Makes the next text on `output` begin on a line of its own: something without a final line end went to another
 * stream, which may lead to the same terminal or file (`2>&1`).
 */
export function breakLine(output: Output): void {
  inLine.add(output);
}

/** A line end if `breakLine` asked for one since the last call, else nothing. */
export function lineStart(output: Output): string {
  return inLine.delete(output) ? '\n' : '';
}

/** Lines for a terminal, folded at spaces. Links stay whole, and so do lines that are indented, which are to be copied. */
export function folded(
  text: string,
  { isTTY, columns }: Pick<Output, 'isTTY' | 'columns'>,
): string {
  if (!isTTY || text.length <= columns) return text;
  const part = new RegExp(`(.{1,${columns}})(?: |$)`, 'g');
  const fold = (line: string) =>
    /^( |$)/.test(line) ? line : line.replace(part, '$1\n').trimEnd();
  return text.split('\n').map(fold).join('\n');
}

/**
 * A text of help, whose paragraphs and two columns are written for 80 columns, for a terminal that has fewer. A text that
 * would have little room beside its name stands below it.
 */
export function reflowed(text: string, { columns }: Output): string {
  if (columns >= 80) return text;
  const fold = (part: string, room: number) => folded(part, { isTTY: true, columns: room });
  const item = (_: string, head: string, first: string, more: string) => {
    const meaning = first + more.replaceAll(/\n +/g, ' ');
    const room = columns - head.length;
    const beside = room >= 24 && !/\S{25}/.test(meaning);
    const indent = beside ? head.length : 6;
    const lines = fold(meaning, columns - indent).replaceAll('\n', `\n${' '.repeat(indent)}`);
    return beside ? head + lines : `${head.trimEnd()}\n${' '.repeat(indent)}${lines}`;
  };
  const whole = text.replace(/(?<=^\S.*)\n(?=\S)/gm, ' ');
  return fold(whole, columns)
    .replace(/^( +[^ $].* {2,})(\S.*)((?:\n {10,}\S.*)*)/gm, item)
    .replaceAll(/^ {2}\$ .*/gm, (line) => (line.length > columns ? example(line, columns) : line));
}

/** A command line in several, which a shell reads as one, and below it what it does. */
function example(line: string, columns: number): string {
  const [command = '', meaning] = line.split(/ {3,}/);
  const [first = '', ...words] = command.trim().match(/(?:'[^']*'|"[^"]*"|\S)+/g) ?? [];
  const lines: string[] = [];
  let last = `  ${first}`;
  for (const word of words) {
    const longer = `${last} ${word}`;
    if (longer.length <= columns - ' \\'.length) last = longer;
    else {
      // A pipe at its end continues a line in PowerShell, too.
      lines.push(/[|&]$/.test(last) ? last : `${last} \\`);
      last = `      ${word}`;
    }
  }
  return [...lines, last, ...(meaning === undefined ? [] : [`      ${meaning}`])].join('\n');
}

/** Outputs that blocked after the interrupt. */
const blockedOutputs = new WeakSet<Output>();

/**
 * Writes; after an interrupt it gives up after `GRACE.write`. An output that timed out once is not tried again, so that many
 * results can still be saved elsewhere.
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
