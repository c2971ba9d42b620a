import { styleText } from 'node:util';
import { createPromptModule } from 'inquirer';
import type {
  Extent,
  PromptStreams,
  TerminalPrompter,
  TerminalSignals,
} from '../../platform/context';
import { CliError, phrase } from '../../platform/errors';
import { keyboard } from './keyboard';
import { safe } from './safe';
import { width, wrap } from './text-width';
import { typedText } from './typed-text';

const SHOW_CURSOR = '\u001b[?25h';
/** Makes the terminal mark pasted text (xterm, "Bracketed Paste Mode"). */
const MARK_PASTED = '\u001b[?2004h';
const MARK_NOTHING = '\u001b[?2004l';
const CLEAR_LINE = '\r\u001b[2K';

/** inquirer would show a tick after an answer, even if the answer is refused afterwards: the prefix does not change. */
const PREFIX = styleText('blue', '?');

/**
 * inquirer draws the prompts, except those for hidden text. Ctrl-C, Ctrl-D and signals reject with `interrupted`.
 * @param signals what to do for Ctrl-Z, and for Ctrl-C between two questions
 */
export function inquirerPrompter(
  { input, output, signal }: PromptStreams,
  { interrupt, suspend }: TerminalSignals,
): TerminalPrompter {
  const { keys, take, release } = keyboard(input, {
    interrupt,
    suspend:
      suspend &&
      (() => {
        output.write(SHOW_CURSOR + MARK_NOTHING);
        suspend();
      }),
  });
  const ask = async <T>(question: object): Promise<T> => {
    take();
    const left = whenLeft(keys);
    const ending = AbortSignal.any([signal, left.signal]);
    try {
      const prompt = createPromptModule({ input: keys, output, signal: ending });
      const { value } = await prompt([
        { ...question, theme: { prefix: PREFIX }, name: 'value' },
      ] as never);
      return value as T;
    } catch (error) {
      output.write(SHOW_CURSOR);
      const name = error instanceof Error ? error.name : '';
      if (name !== 'ExitPromptError' && name !== 'AbortPromptError') throw error;
      throw new CliError('interrupted', phrase('interrupted'), { cause: error });
    } finally {
      left.end();
    }
  };
  const fold = (message: string) => wrap(`? ${message}`, columnsOf(output) - 1);
  // inquirer would break a line within a word.
  const folded = (message: string) => fold(message).join('\n').slice(2);
  return {
    release,
    secret: (message, extent = 'line') => {
      take();
      return askSecret({ input: keys, output, signal }, fold(message), extent);
    },
    text: (message, preset) => ask({ type: 'input', message: folded(message), default: preset }),
    confirm: (message, preset) =>
      ask({ type: 'confirm', message: folded(message), default: preset }),
    choose: (message, choices) => {
      // Further lines are indented like the first line, which begins with the pointer.
      const below = (name: string) => wrap(name, columnsOf(output) - 3).join('\n  ');
      const shown = choices.map((choice) => ({ ...choice, name: below(choice.name) }));
      return ask({ type: 'select', message: folded(message), choices: shown });
    },
  };
}

/** @param lines the question, folded */
function askSecret(
  streams: PromptStreams,
  lines: readonly string[],
  extent: Extent,
): Promise<string> {
  const { output } = streams;
  const bold = lines.map((line, index) =>
    index === 0 ? `${PREFIX} ${styleText('bold', line.slice(2))}` : styleText('bold', line),
  );
  for (const line of bold.slice(0, -1)) output.write(`${CLEAR_LINE}${line}\n`);
  const draw = (text: string, typed: number) => {
    const room = columnsOf(output) - width(`${lines.at(-1)} `);
    const more =
      typed > 1 ? `, ${typed} lines` : extent === 'lines' ? '; Alt-Enter for a new line' : '';
    const hint = [`(hidden${more}) `, '(hidden) '].find((text) => width(text) < room);
    const mark = extent === 'line' ? '' : MARK_PASTED;
    const shown = extent === 'link' ? linkShown(text, room) : hint ? styleText('dim', hint) : '';
    output.write(`${mark}${CLEAR_LINE}${bold.at(-1)} ${shown}`);
  };
  return typedText(streams, { extent, draw }).finally(
    () => extent !== 'line' && output.write(MARK_NOTHING),
  );
}

/** Shows what is before the key, and only the end of what is too long. */
function linkShown(text: string, room: number): string {
  const line = safe(text.replaceAll('\n', ' '));
  const shown = line.replace(/(?<=#|%(?:25)*23).*/, (key) => '*'.repeat(key.length));
  let start = Math.max(0, shown.length - room);
  while (width(shown.slice(start)) >= room) start++;
  return start === 0 ? shown : `…${shown.slice(start + 1)}`;
}

const columnsOf = ({ columns }: PromptStreams['output']) => columns || 80;

/**
 * Aborts when the prompt ends without a value. Ctrl-D closes inquirer's reader, which pauses the input and leaves
 * the promise pending; Enter pauses it too, but has resolved the promise by the next turn.
 */
function whenLeft(input: NodeJS.ReadableStream) {
  const left = new AbortController();
  const leave = () => setImmediate(() => left.abort());
  input.once('pause', leave);
  input.once('end', leave);
  const end = () => {
    input.off('pause', leave);
    input.off('end', leave);
  };
  return { signal: left.signal, end };
}
