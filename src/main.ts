import type { Context } from './context';
import type { GlobalOptions } from './options';

/**
 * Runs one command line and returns the exit status. The only catch: every failure becomes a line on
 * stderr and a status of the table in `errors.ts`.
 */
export async function run(argv: readonly string[], context: Context): Promise<number> {
  let parsed: GlobalOptions | undefined;
  try {
    const { execute } = await import('./program');
    const ended = interruptible((begins) => {
      return execute(argv, context, (options) => {
        parsed = options;
        begins();
      });
    }, context);
    await ended.finally(() => context.asked());
    return 0;
  } catch (error) {
    const cut = context.signal.aborted && !context.signalsTaken;
    const failure = cut ? await interruption(context.signal, error) : error;
    return await report(failure, context, parsed ?? (await unparsed(argv, context)));
  }
}

/** How long a command may take to clean up after Ctrl-C, in milliseconds. */
const GRACE = 700;

/**
 * Settles as what `start` makes does; once interrupted, it gets a moment to clean up and is then left behind.
 * Signals are heard from the moment it calls `begins`: the help needs nobody to listen.
 */
async function interruptible(
  start: (begins: () => void) => Promise<void>,
  context: Context,
): Promise<void> {
  let begun = false;
  let onAbort = () => {};
  const interrupted = new Promise<never>((_, reject) => {
    onAbort = () => {
      if (context.signalsTaken) return;
      const timer = setTimeout(reject, GRACE);
      const settled = (error?: unknown) => {
        clearTimeout(timer);
        reject(error);
      };
      work.then(() => settled(), settled);
    };
  });
  const work = start(() => {
    begun = true;
    if (context.signal.aborted) queueMicrotask(onAbort);
    else context.signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    await Promise.race([work, interrupted]);
    if (begun && context.signal.aborted && !context.signalsTaken) throw context.signal.reason;
  } finally {
    if (begun) context.signal.removeEventListener('abort', onAbort);
  }
}

async function report(
  error: unknown,
  context: Context,
  { json, debug }: Pick<GlobalOptions, 'json' | 'debug'>,
): Promise<number> {
  const [{ statusOf }, { tellFailure }] = await Promise.all([
    import('./terminal/error-message'),
    import('./report-error'),
  ]);
  await tellFailure(context, error, { json, debug });
  return statusOf(error);
}

/** How to report what is wrong with a line that could not be parsed. */
async function unparsed(argv: readonly string[], context: Context) {
  const [{ optionWords, programFor }, { isOn }] = await Promise.all([
    import('./program'),
    import('./env-switch'),
  ]);
  const words = optionWords(await programFor(argv, context), argv);
  const debug = words.includes('--debug') || isOn(context.env.PWPUSH_DEBUG);
  return { json: words.includes('--json'), debug };
}

/** What a signal ended; what its failure says of a push that exists, or a view that is gone, is told with it. */
async function interruption(signal: AbortSignal, failure: unknown): Promise<Error> {
  const { CliError, endedBy } = await import('./errors');
  const ended = endedBy(signal);
  if (!(failure instanceof CliError)) return ended;
  const { code } = ended;
  const message = failure.remains ? `${ended.message}; ${failure.message}` : ended.message;
  const hint = failure.remains || failure.code === 'unknown' ? failure.hint : undefined;
  return new CliError(code, message, { hint, remains: failure.remains });
}
