import type { GlobalOptions } from './cli/options';
import { execute, reached } from './commands/program';
import { printError } from './keep/print-error';
import type { Context } from './platform/context';
import { CliError, endedBy, type Fact, phrase, statusOf } from './platform/errors';
import { interruptible, isInterrupted } from './platform/interrupts';
import { HANDED_OVER, handedOver } from './platform/own-run';
import * as system from './platform/process';

export { crash, leave } from './platform/process';

/**
 * @param tune is called once the first connection is ready; `many` is true if several requests may run at once
 * @param launcher the path of the script that was started; empty for an executable
 */
export function systemContext(
  tune: (many: boolean) => void = () => {},
  launcher: readonly string[] = [],
): Context {
  return system.systemContext(
    {
      http: async (options) => (await import('./client/transport/undici')).undiciTransport(options),
      prompter: async (streams, signals) =>
        (await import('./cli/terminal/prompt')).inquirerPrompter(streams, signals),
    },
    tune,
    launcher,
  );
}

/** Returns the exit status. No error passes this function: it prints each, and `errors.ts` has the status for it. */
export async function run(argv: readonly string[], context: Context): Promise<number> {
  const handed = argv[0] === HANDED_OVER ? await handedOver(context, system.terminate) : undefined;
  if (handed) return run(handed.argv, handed.context);
  let parsed: GlobalOptions | undefined;
  try {
    const ended = interruptible(
      (begins) =>
        execute(argv, context, (options) => {
          parsed = options;
          begins();
        }),
      context,
    );
    await ended.finally(() => context.releaseTerminal());
    return 0;
  } catch (error) {
    const failure = isInterrupted(context) ? interruption(context.signal, error) : error;
    const { json, debug } = parsed ?? (await reached(argv, context)).options;
    await printError(context, failure, { json, debug });
    return statusOf(failure);
  }
}

/** Puts the subject of an error, such as a line of the input, before its first fact. */
function factsOf({ subject, facts }: CliError): readonly Fact[] {
  const [first, ...others] = facts;
  if (subject === undefined || first === undefined) return facts;
  return [phrase('detailed', subject, first), ...others];
}

/** Returns the error of an interrupted run, with what a failure says about a created push or a used view. */
function interruption(signal: AbortSignal, failure: unknown): Error {
  const ended = endedBy(signal);
  if (!(failure instanceof CliError)) return ended;
  const { remains, code } = failure;
  const { hints } = failure.outlastsInterrupt ? failure : ended;
  const others = factsOf(failure).filter(
    (fact) => typeof fact === 'string' || fact.name !== ended.code,
  );
  const facts = remains || code === ended.code ? [...ended.facts, ...others] : ended.facts;
  return ended.with({ facts, hints, remains, cause: failure });
}
