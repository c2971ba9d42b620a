import type { Context, OwnRun } from './context';
import { aborted } from './files/abort';
import type { Interrupts } from './interrupts';

// One run of ours starts another. Its command line goes through the pipe of its standard input: other users can read
// arguments, and a link has the key of what it opens.

/** The only word of such a run. */
export const HANDED_OVER = '__handed-over';

/**
 * Starts a run, and returns its exit status.
 * @param program what starts this program
 * @param muted calls its argument with stderr muted
 */
export async function startOwn(
  [file, ...first]: readonly [string, ...string[]],
  { argv, env, input = '', output, signal }: OwnRun,
  muted: <T>(work: () => T) => T,
): Promise<number> {
  const { runChild } = await import('./child');
  const words = [file, ...first, HANDED_OVER] as const;
  const child = { file, words, env, input: `${JSON.stringify(argv)}\n${input}`, output };
  const interrupts: Interrupts = {
    owned: false,
    enter: (mode) => {
      if (mode.mode === 'forward') void aborted(signal).then(() => mode.deliver('SIGTERM'));
      return () => {};
    },
  };
  return runChild(child, interrupts, muted, undefined);
}

/** The command line that comes by standard input, and the world with the rest of it; undefined without one. */
export async function handedOver(
  context: Context,
): Promise<{ readonly argv: readonly string[]; readonly context: Context } | undefined> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of context.stdin.bytes()) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  const end = bytes.indexOf('\n');
  const argv = wordsIn(bytes.toString('utf8', 0, end));
  if (argv === undefined) return undefined;
  const stdin: Context['stdin'] = {
    isTTY: false,
    bytes: async function* () {
      yield bytes.subarray(end + 1);
    },
  };
  // With its getters, which listen for signals.
  const properties = Object.getOwnPropertyDescriptors(context);
  const inner = { ...properties, stdin: { value: stdin, enumerable: true } };
  return { argv, context: Object.defineProperties({} as Context, inner) };
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
