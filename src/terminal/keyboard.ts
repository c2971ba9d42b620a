import { PassThrough } from 'node:stream';
import { type CliError, usageError } from '../errors';

/** What is typed, from the first question until it is let go: shown by nobody, between two questions neither. */
export interface Keyboard {
  /** What questions read. */
  readonly keys: NodeJS.ReadableStream;
  /** Takes the terminal, if it has not done so yet. */
  take(): void;
  /** Gives it back as it was. */
  release(): void;
}

type Terminal = NodeJS.ReadableStream & { setRawMode?(raw: boolean): unknown };

/** What a terminal does itself for some keys, unless it was taken. */
export interface Signals {
  /** For Control-C, which it shows too. */
  interrupt(): void;
  /** For Control-Z; left out where there is no such thing. Returns when the process goes on. */
  readonly suspend?: (() => void) | undefined;
}

/** The error of a secret that was pasted into a prompt for one line. */
export function severalLines(): CliError {
  return usageError(
    'what was pasted has several lines, and the prompt takes one; nothing was sent',
    'pipe it in, or name a file with --from FILE',
  );
}

const CTRL_C = 3;
const CTRL_Z = 26;
const ESCAPE = 27;
/** What an arrow or a function key sends behind Escape (ECMA-48, xterm). */
const SEQUENCE = /^(\[[\d;]*[A-Za-z~]|O[A-Z])$/;
/** A blank that is taken away again: a question draws itself anew for it, and its answer stays as it is. */
const NOTHING = ' \u007f';

/**
 * Between two questions the terminal would show what is typed ahead, a secret too, since each question gives it back.
 * Questions hear Control-C themselves, and no Control-Z: after that readline would read no more, and what is typed
 * would go to the shell. Nor do they hear Escape by itself, with which readline drops the next character, unseen.
 */
export function keyboard(terminal: Terminal, { interrupt, suspend }: Signals): Keyboard {
  const raw = (on: boolean) => void terminal.setRawMode?.(on);
  const keys = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => {} });
  let escaped = false;
  const hear = (data: Buffer) => {
    if (keys.isPaused() && data.includes(CTRL_C)) return interrupt();
    if (data.length === 1 && data[0] === ESCAPE) {
      escaped = true;
      return;
    }
    if (escaped && SEQUENCE.test(data.toString())) keys.write(Buffer.of(ESCAPE));
    escaped = false;
    const stop = suspend === undefined ? -1 : data.indexOf(CTRL_Z);
    if (stop === -1) return void keys.write(data);
    keys.write(data.subarray(0, stop));
    raw(false);
    suspend?.();
    raw(true);
    if (!keys.isPaused()) keys.write(NOTHING);
    hear(data.subarray(stop + 1));
  };
  const end = () => void keys.end();
  let taken = false;
  return {
    keys,
    take: () => {
      if (taken) return;
      taken = true;
      raw(true);
      terminal.on('data', hear);
      terminal.once('end', end);
      terminal.resume();
    },
    release: () => {
      if (!taken) return;
      taken = false;
      terminal.off('data', hear);
      terminal.off('end', end);
      terminal.pause();
      raw(false);
    },
  };
}
