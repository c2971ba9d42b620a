import { jsonIn } from '../contract/json';
import { type Context, contextWith } from './context';

// One run can start another, which reads its command line from standard input: other users can read arguments, and a
// link contains its key. The end of standard input ends the new run, also if the first was killed.

/** The only argument of a run that another run starts. */
export const HANDED_OVER = '__handed-over';

/**
 * Reads the command line and the run's input, one line of JSON, from standard input, and returns a context with that
 * input; undefined if the line is invalid.
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
  // A child program must not wait for input that never comes.
  const runChild: Context['runChild'] = (child) => context.runChild({ input: '', ...child });
  const happened: Context['happened'] = (event) =>
    void context.stdout.write(`${JSON.stringify(event)}\n`).catch(() => {});
  const inner = contextWith(context, { stdin, runChild, happened });
  return { argv: words.slice(0, -1), context: inner };
}

function wordsIn(line: string): readonly string[] | undefined {
  const words = jsonIn(line);
  return Array.isArray(words) && words.every((word) => typeof word === 'string')
    ? words
    : undefined;
}
