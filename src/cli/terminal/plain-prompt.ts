import type { PromptStreams, TerminalPrompter, TerminalSignals } from '../../platform/context';
import { CliError } from '../../platform/errors';
import { keyboard, severalLines } from './keyboard';

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
/** Sent by arrow and function keys (ECMA-48, xterm). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: of a terminal
const SEQUENCES = /\u001b(?:\[[\d;]*[A-Za-z~]|O[A-Z])/g;
const BACKSPACES = ['\b', '\u007f'];

/**
 * Prompts for a terminal without control sequences (`TERM=dumb`): a question, what is typed, a line end. Ctrl-C,
 * Ctrl-D and signals reject with `interrupted`.
 * @param signals what to do for Ctrl-Z, and for Ctrl-C between two questions
 */
export function plainPrompter(streams: PromptStreams, signals: TerminalSignals): TerminalPrompter {
  const { input, output } = streams;
  const { keys, take, release } = keyboard(input, signals);
  const ask = (question: string, shown: boolean): Promise<string> => {
    take();
    output.write(`${question} `);
    return typedLine({ ...streams, input: keys }, shown);
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
    secret: (message) => ask(message, false),
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

/** Reads a line; rejects for text after the end of one that is not shown, which was pasted. */
function typedLine({ input, output, signal }: PromptStreams, shown: boolean): Promise<string> {
  return new Promise((resolve, reject) => {
    let typed: string[] = [];
    const end = () => {
      input.off('data', onData).off('end', leave).pause();
      signal.removeEventListener('abort', leave);
      output.write('\n');
    };
    const leave = () => {
      end();
      reject(new CliError('interrupted', 'interrupted'));
    };
    const enter = (rest: readonly string[]) => {
      end();
      if (!shown && rest.some((key) => key !== '\r' && key !== '\n')) reject(severalLines());
      else resolve(typed.join(''));
    };
    const onData = (data: Buffer) => {
      const pressed = [...data.toString().replace(SEQUENCES, '')];
      for (const [at, key] of pressed.entries()) {
        if (key === CTRL_C || (key === CTRL_D && typed.length === 0)) return leave();
        if (key === '\r' || key === '\n') return enter(pressed.slice(at + 1));
        if (BACKSPACES.includes(key)) {
          if (shown && typed.length > 0) output.write('\b \b');
          typed = typed.slice(0, -1);
        } else if (key >= ' ') {
          if (shown) output.write(key);
          typed.push(key);
        }
      }
    };
    input.on('data', onData).once('end', leave).resume();
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
  });
}
