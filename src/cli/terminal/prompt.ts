import { createPromptModule } from 'inquirer';
import type { PromptStreams, TerminalPrompter, TerminalSignals } from '../../platform/context';
import { CliError } from '../../platform/errors';
import { keyboard, severalLines } from './keyboard';

const SHOW_CURSOR = '\u001b[?25h';

/**
 * Prompts by inquirer on the given terminal. Ctrl-C, Ctrl-D and signals reject with `interrupted`.
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
        output.write(SHOW_CURSOR);
        suspend();
      }),
  });
  const ask = async <T>(question: object): Promise<T> => {
    take();
    const left = whenLeft(keys);
    try {
      const prompt = createPromptModule({
        input: keys,
        output,
        signal: AbortSignal.any([signal, left.signal]),
      });
      const { value } = await prompt([{ ...question, name: 'value' }] as never);
      return value as T;
    } catch (error) {
      output.write(SHOW_CURSOR);
      const name = error instanceof Error ? error.name : '';
      if (name !== 'ExitPromptError' && name !== 'AbortPromptError') throw error;
      throw new CliError('interrupted', 'interrupted', { cause: error });
    } finally {
      left.end();
    }
  };
  return {
    release,
    secret: async (message) => {
      const pasted = watchLines(keys);
      const typed = await ask<string>({
        type: 'password',
        message,
        toggleMask: false,
        theme: { style: { maskedText: '(hidden)' } },
      }).finally(pasted.end);
      if (!pasted.several()) return typed;
      throw severalLines();
    },
    text: (message, preset) => ask({ type: 'input', message, default: preset }),
    confirm: (message, preset) => ask({ type: 'confirm', message, default: preset }),
    choose: (message, choices) => ask({ type: 'select', message, choices }),
  };
}

/** Whether text followed a line end in the same chunk: it was pasted, since nobody types that fast. */
function watchLines(input: NodeJS.ReadableStream) {
  let several = false;
  const onData = (data: Uint8Array | string) => {
    several ||= /[\r\n][^\r\n]/.test(data.toString());
  };
  // A listener alone would start the stream, and what is typed ahead would be lost.
  input.pause();
  input.on('data', onData);
  return { several: () => several, end: () => void input.off('data', onData) };
}

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
