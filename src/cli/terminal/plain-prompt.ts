import type {
  Extent,
  PromptStreams,
  TerminalPrompter,
  TerminalSignals,
} from '../../platform/context';
import { keyboard } from './keyboard';
import { wrap } from './text-width';
import { typedText } from './typed-text';

/**
 * Prompts for a terminal without control sequences (`TERM=dumb`): a question, what is typed, a line end. Ctrl-C,
 * Ctrl-D and signals reject with `interrupted`.
 * @param signals what to do for Ctrl-Z, and for Ctrl-C between two questions
 */
export function plainPrompter(streams: PromptStreams, signals: TerminalSignals): TerminalPrompter {
  const { input, output } = streams;
  const { keys, take, release } = keyboard(input, signals);
  const ask = (question: string, shown: boolean, extent: Extent = 'line'): Promise<string> => {
    take();
    const draw = (lines: number) => {
      if (lines === 1) output.write(`${wrap(question, (output.columns || 80) - 1).join('\n')} `);
    };
    return typedText({ ...streams, input: keys }, { extent, shown, draw });
  };
  const askUntilValid = async <T>(
    question: string,
    read: (typed: string) => T | undefined,
  ): Promise<T> => {
    for (;;) {
      const value = read((await ask(question, true)).trim());
      if (value !== undefined) return value;
    }
  };
  return {
    release,
    secret: (message, extent) => ask(message, false, extent),
    text: async (message, preset) => {
      const shown = preset === undefined ? message : `${message} (${preset})`;
      return (await ask(shown, true)) || (preset ?? '');
    },
    confirm: (message, preset) =>
      askUntilValid(`${message} (${preset ? 'Y/n' : 'y/N'})`, (typed) => {
        if (typed === '') return preset;
        return /^y(es)?$/i.test(typed) ? true : /^no?$/i.test(typed) ? false : undefined;
      }),
    choose: (message, choices) => {
      const lines = choices.map(({ name }, at) => `${at + 1}) ${name}\n`);
      output.write(`${message}\n${lines.join('')}`);
      return askUntilValid(`1-${choices.length}:`, (typed) => choices[Number(typed) - 1]?.value);
    },
  };
}
