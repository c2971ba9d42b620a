import { lazy } from '../contract/lazy';
import { type EndingSignal, endedBy, endings, exitStatus } from './errors';
import { aborted, raceWithLimit } from './files/abort';

/** Milliseconds that work may still take after the first signal. */
export const GRACE = {
  write: 100,
  program: 300,
  /** An HTTP request that was sent, as its response must not be lost. */
  request: 700,
  /** The run delivers what it received and cleans up, also on a busy machine. A signal within this time is ignored. */
  run: 2000,
} as const;

/**
 * Decides what a signal does. Without a mode, the first signal aborts the run, which has `GRACE.run` to deliver what it
 * received; a later signal ends the process.
 */
export type Mode =
  /** The next SIGINT calls `ask` instead of aborting, and leaves the mode. */
  | { readonly mode: 'confirm'; readonly ask: () => void }
  /** The command ends in its own time after the run is aborted. SIGHUP calls `hangup`, if set, instead of aborting. */
  | { readonly mode: 'own'; readonly hangup?: () => void }
  /** All signals go to `deliver`, also those that would not abort the run. */
  | { readonly mode: 'forward'; readonly deliver: (signal: NodeJS.Signals) => void };

export interface Interrupts {
  enter(mode: Mode): () => void;
  readonly owned: boolean;
}

/**
 * Handles the signals of a process, which may have only one such object.
 * @param end ends the process
 */
export function processInterrupts(node: NodeJS.Process, end: (status: number) => void) {
  const modes: Mode[] = [];
  let listening = false;
  /** Listens for signals from its first call on. The first signal aborts the result, with its name as the reason. */
  const signal = lazy((): AbortSignal => {
    listening = true;
    const controller = new AbortController();
    let since = 0;
    const received = (name: EndingSignal) => {
      const mode = modes.at(-1);
      if (mode?.mode === 'forward') return mode.deliver(name);
      if (mode?.mode === 'own' && name === 'SIGHUP' && mode.hangup) return mode.hangup();
      if (controller.signal.aborted) {
        // npx passes on the Ctrl-C that the terminal has sent already.
        if (performance.now() - since < GRACE.run) return;
        return end(exitStatus[endings[name]]);
      }
      since = performance.now();
      // The terminal has shown ^C at the cursor.
      if (name === 'SIGINT' && node.stderr.isTTY) node.stderr.write('\n');
      if (mode?.mode !== 'confirm' || name !== 'SIGINT') return controller.abort(name);
      leave(mode);
      mode.ask();
    };
    // These handlers stay: without them, those that prompts install would end the process by the signal itself.
    // JavaScriptCore stops its threads with this signal.
    for (const name of Object.keys(endings) as EndingSignal[])
      if (name !== 'SIGPWR' || !node.versions.webkit) node.on(name, () => received(name));
    return controller.signal;
  });
  const leave = (mode: Mode) => {
    const index = modes.indexOf(mode);
    if (index >= 0) modes.splice(index, 1);
  };
  return {
    signal,
    listening: () => listening,
    get owned() {
      return modes.some(({ mode }) => mode === 'own');
    },
    enter: (mode: Mode) => {
      signal();
      modes.push(mode);
      if (mode.mode !== 'forward') return () => leave(mode);
      const { deliver } = mode;
      for (const name of OTHERS) node.on(name, deliver);
      return () => {
        leave(mode);
        for (const name of OTHERS) node.off(name, deliver);
      };
    },
  };
}

/** These signals are passed on to a child, and do nothing else. */
const OTHERS = ['SIGUSR1', 'SIGWINCH'] as const;

/** Settles as `work` does, but fails at once when a signal ends the run. */
export function unlessEnded<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return raceWithLimit(work, { signal }, () => {
    throw endedBy(signal);
  });
}

interface Interruptible {
  readonly signal: AbortSignal;
  readonly interrupts: Interrupts;
}

/** Returns false in mode `own`, in which the command ends by itself. */
export function isInterrupted({ signal, interrupts }: Interruptible): boolean {
  return signal.aborted && !interrupts.owned;
}

/**
 * Settles as the result of `start`, which is abandoned when `GRACE.run` is over after an interrupt. Signals are handled
 * only once `start` calls `begins`: printing the help does not need them.
 * @throws the name of the signal
 */
export async function interruptible(
  start: (begins: () => void) => Promise<void>,
  context: Interruptible,
): Promise<void> {
  let begun = false;
  const interrupt = new AbortController();
  const work = start(() => {
    begun = true;
    void aborted(context.signal).then(() => context.interrupts.owned || interrupt.abort());
  });
  const limit = { signal: interrupt.signal, milliseconds: GRACE.run };
  await raceWithLimit(work, limit, () => (context.interrupts.owned ? work : undefined));
  if (begun && isInterrupted(context)) throw context.signal.reason;
}
