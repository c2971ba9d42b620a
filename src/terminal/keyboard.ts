import { PassThrough } from 'node:stream';

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

const CTRL_C = 3;

/**
 * Between two questions the terminal would show what is typed ahead, a secret too, since each question gives it back.
 * @param interrupt does what the terminal does for Control-C, when no question hears it
 */
export function keyboard(terminal: Terminal, interrupt: () => void): Keyboard {
  const raw = (on: boolean) => void terminal.setRawMode?.(on);
  const keys = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: (on: boolean) => {
      // A question pauses when it ends, but not for Control-Z, where the shell has to get the terminal.
      if (on || !keys.isPaused()) raw(on);
    },
  });
  const hear = (data: Uint8Array) => {
    if (keys.isPaused() && data.includes(CTRL_C)) interrupt();
    else keys.write(data);
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
