import type { Choice, Prompter } from '../../src/platform/context';

/** A question that will be asked, word for word, and its answer. */
export type Prompt =
  | { readonly secret: string; readonly answer: string }
  | { readonly text: string; readonly preset?: string; readonly answer: string }
  | { readonly confirm: string; readonly answer: boolean }
  | { readonly choose: string; readonly among: readonly string[]; readonly answer: string };

/** Answers by the script; `check` throws when another question was asked or an answer was left over. */
export function scriptedPrompter(script: readonly Prompt[]) {
  const left = [...script];
  const wrong: string[] = [];
  const next = (asked: object) => {
    const expected = left.shift();
    const { answer, ...question } = expected ?? { answer: undefined };
    if (JSON.stringify(question) === JSON.stringify(asked) && answer !== undefined) return answer;
    wrong.push(`asked ${JSON.stringify(asked)} instead of ${JSON.stringify(question)}`);
    throw new Error('not in the script');
  };
  const prompter: Prompter = {
    secret: async (secret) => next({ secret }) as string,
    text: async (text, preset) => next(preset === undefined ? { text } : { text, preset }) as string,
    confirm: async (confirm) => next({ confirm }) as boolean,
    choose: async <T extends string>(choose: string, choices: readonly Choice<T>[]) =>
      next({ choose, among: choices.map(({ value }) => value) }) as T,
  };
  return {
    prompter,
    check: () => {
      if (left.length > 0) wrong.push(`never asked: ${JSON.stringify(left)}`);
      if (wrong.length > 0) throw new Error(wrong.join('\n'));
    },
  };
}
