import type { Context } from './context';

/**
 * Runs one command line and returns the exit status. The only catch: every failure becomes a line on
 * stderr and a status of the table in `errors.ts`.
 */
export async function run(argv: readonly string[], context: Context): Promise<number> {
  // The common question that deserves no more than its answer: nothing is loaded for it.
  if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
    await context.stdout.write(`${context.version}\n`);
    return 0;
  }
  let taken = false;
  const takeSignals = () => {
    taken = true;
    return context.signal;
  };
  try {
    const { execute } = await import('./program');
    await interruptible(execute(argv, { ...context, takeSignals }), context.signal, () => taken);
    return 0;
  } catch (error) {
    const cut = context.signal.aborted && !taken;
    return await report(cut ? await interruption(context.signal, error) : error, argv, context);
  }
}

/** How long a command may take to clean up after Ctrl-C, in milliseconds. */
const GRACE = 500;

/** Settles as `work` does; once interrupted, `work` gets a moment to clean up and is then left behind. */
async function interruptible(
  work: Promise<void>,
  signal: AbortSignal,
  taken: () => boolean,
): Promise<void> {
  let onAbort = () => {};
  const interrupted = new Promise<never>((_, reject) => {
    onAbort = () => {
      if (taken()) return;
      const timer = setTimeout(reject, GRACE);
      const settled = (error?: unknown) => {
        clearTimeout(timer);
        reject(error);
      };
      work.then(() => settled(), settled);
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    await Promise.race([work, interrupted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

async function report(error: unknown, argv: readonly string[], context: Context): Promise<number> {
  const { failureText, statusOf } = await import('./terminal/failure');
  const end = argv.indexOf('--');
  const words = end === -1 ? argv : argv.slice(0, end);
  const debug = words.includes('--debug') || Boolean(context.env.PWPUSH_DEBUG);
  const text = failureText(error, { json: words.includes('--json'), debug });
  // With stderr gone there is nobody left to tell; the status still speaks.
  if (text !== '') await context.stderr.write(text).catch(() => {});
  return statusOf(error);
}

/** What a signal ended, with the hint of the failure it caused: a push may exist all the same. */
async function interruption(signal: AbortSignal, failure: unknown): Promise<Error> {
  const { CliError } = await import('./errors');
  const unknown = failure instanceof CliError && failure.code === 'unknown';
  const hint = unknown ? failure.hint : undefined;
  return signal.reason === 'SIGTERM'
    ? new CliError('terminated', 'terminated', { hint })
    : new CliError('interrupted', 'interrupted', { hint });
}
