import { type EndingSignal, endings, exitStatus } from './errors';
import { aborted, raceWithLimit } from './files/abort';
import { lazy } from './files/lazy';

/** How long what runs at the first signal may still take, in milliseconds. */
export const GRACE = {
  write: 100,
  program: 300,
  /** A request that has left, whose response must not be lost. */
  request: 700,
  /**
   * The whole run has to deliver what arrived, and to clean up, also on a busy machine. A signal within this time
   * changes nothing.
   */
  run: 2000,
} as const;

/**
 * Decides what a signal does. Without another mode, the first one aborts the run, which then has `GRACE.run` to deliver
 * what arrived; a later one ends the process.
 */
export type Mode =
  /** The next SIGINT calls `ask` instead of aborting, and leaves the mode. */
  | { readonly mode: 'confirm'; readonly ask: () => void }
  /** The command ends by itself once the run is aborted, in its own time; SIGHUP calls `hangup`, if there is one, instead. */
  | { readonly mode: 'own'; readonly hangup?: () => void }
  /** All signals go to `deliver`, also those that would not abort the run. */
  | { readonly mode: 'forward'; readonly deliver: (signal: NodeJS.Signals) => void };

export interface Interrupts {
  enter(mode: Mode): () => void;
  readonly owned: boolean;
}

/** A process may have one of these only. */
export function processInterrupts(node: NodeJS.Process) {
  const modes: Mode[] = [];
  let listening = false;
  /** The first signal aborts it, with its name as the reason; signals are listened to from the first call on. */
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
        node.exit(exitStatus[endings[name]]);
      }
      since = performance.now();
      // The terminal has shown ^C at the cursor.
      if (name === 'SIGINT' && node.stderr.isTTY) node.stderr.write('\n');
      if (mode?.mode !== 'confirm' || name !== 'SIGINT') return controller.abort(name);
      leave(mode);
      mode.ask();
    };
    // The handlers stay: without them, those of prompts would end the process by the signal itself.
    for (const name of Object.keys(endings) as EndingSignal[]) node.on(name, () => received(name));
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
      const others = node.platform === 'win32' ? (['SIGBREAK'] as const) : OTHERS;
      for (const name of others) node.on(name, deliver);
      return () => {
        leave(mode);
        for (const name of others) node.off(name, deliver);
      };
    },
  };
}

/** These signals are passed on to a child, and do nothing else. */
const OTHERS = ['SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH'] as const;

interface Interruptible {
  readonly signal: AbortSignal;
  readonly interrupts: Interrupts;
}

/** False if the command ends by itself, in mode `own`. */
export function isInterrupted({ signal, interrupts }: Interruptible): boolean {
  return signal.aborted && !interrupts.owned;
}

/**
 * Settles as what `start` returns does, but once the run is interrupted it has `GRACE.run`, and is then abandoned. Signals are
 * listened to once it calls `begins`: printing the help does without.
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
