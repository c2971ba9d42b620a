import type { Context, OwnRun } from './context';
import { aborted } from './files/abort';
import type { Interrupts } from './interrupts';

// One run of ours starts another. Its command line goes through the pipe of its standard input: other users can read
// arguments, and a link has the key of what it opens. The end of that pipe ends it, also when the other was killed.

/** The only word of such a run. */
export const HANDED_OVER = '__handed-over';

/**
 * Starts a run, and returns its exit status.
 * @param program what starts this program
 * @param muted calls its argument with stderr muted
 */
export async function startOwn(
  [file, ...first]: readonly [string, ...string[]],
  { argv, env, input, output, signal }: OwnRun,
  muted: <T>(work: () => T) => T,
): Promise<number> {
  const { runChild } = await import('./child');
  const words = [file, ...first, HANDED_OVER] as const;
  const line = `${JSON.stringify([...argv, input])}\n`;
  const child = { file, words, env, input: line, endsWithInput: true, output };
  const interrupts: Interrupts = {
    owned: false,
    enter: (mode) => {
      if (mode.mode === 'forward') void aborted(signal).then(() => mode.deliver('SIGTERM'));
      return () => {};
    },
  };
  return runChild(child, interrupts, muted, undefined);
}

/**
 * The command line that comes by standard input, and the world with the rest of it; undefined without one.
 * @param end is called at the end of standard input
 */
export async function handedOver(
  context: Context,
  end: () => void,
): Promise<{ readonly argv: readonly string[]; readonly context: Context } | undefined> {
  const chunks: Uint8Array[] = [];
  const from = context.stdin.bytes()[Symbol.asyncIterator]();
  for (;;) {
    const { done, value } = await from.next();
    if (done) return undefined;
    chunks.push(value);
    if (value.includes(10)) break;
  }
  const words = wordsIn(Buffer.concat(chunks).toString());
  if (words === undefined) return undefined;
  void from.next().then(end, end);
  const stdin: Context['stdin'] = {
    isTTY: false,
    bytes: async function* () {
      yield Buffer.from(words.at(-1) ?? '');
    },
  };
  // A program does not wait for what never comes.
  const runChild: Context['runChild'] = (child) => context.runChild({ input: '', ...child });
  const happened: Context['happened'] = (event) =>
    void context.stdout.write(`${JSON.stringify(event)}\n`).catch(() => {});
  // With its getters, which listen for signals.
  const properties = Object.getOwnPropertyDescriptors({ stdin, runChild, happened });
  const inner = { ...Object.getOwnPropertyDescriptors(context), ...properties };
  return { argv: words.slice(0, -1), context: Object.defineProperties({} as Context, inner) };
}

function wordsIn(line: string): readonly string[] | undefined {
  try {
    const words: unknown = JSON.parse(line);
    return Array.isArray(words) && words.every((word) => typeof word === 'string')
      ? words
      : undefined;
  } catch {
    return undefined;
  }
}
