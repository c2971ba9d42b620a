import { createPromptModule } from 'inquirer';
import { CliError } from '../errors';

/** Asks a person; what is asked goes to the terminal, never to stdout. */
export interface Prompter {
  /** Not shown while typed. */
  secret(message: string): Promise<string>;
  text(message: string, preset?: string): Promise<string>;
  confirm(message: string, preset: boolean): Promise<boolean>;
}

interface Streams {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
}

/** Prompts by inquirer on the given terminal. Ctrl-C rejects with `interrupted`. */
export function inquirerPrompter(streams: Streams): Prompter {
  const prompt = createPromptModule(streams);
  const ask = async <T>(question: object): Promise<T> => {
    try {
      const { answer } = await prompt([{ ...question, name: 'answer' }] as never);
      return answer as T;
    } catch (error) {
      const name = error instanceof Error ? error.name : '';
      if (name === 'ExitPromptError' || name === 'AbortPromptError') {
        throw new CliError('interrupted', 'interrupted', { cause: error });
      }
      throw error;
    }
  };
  return {
    secret: (message) =>
      ask({
        type: 'password',
        message,
        toggleMask: false,
        theme: { style: { maskedText: '(hidden)' } },
      }),
    text: (message, preset) => ask({ type: 'input', message, default: preset }),
    confirm: (message, preset) => ask({ type: 'confirm', message, default: preset }),
  };
}
