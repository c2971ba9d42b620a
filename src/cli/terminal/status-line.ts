import { isCi, isDumb } from '../../platform/surroundings';
import { lineStart } from './bounded-write';
import type { Entry } from './output';

export interface StatusLine {
  draw(line: (columns: number) => string): void;
  /**
   * Erases the line, so that something else can be written.
   * @param ended whether `platform/interrupts.ts` has ended the line, as it does at a SIGINT
   */
  clear(ended?: boolean): Promise<void>;
  ends(): Promise<void>;
}

/** In columns: the terminal echoes `^C` after the line, which must not wrap, as `clear` goes up one line only. */
const WIDTH_OF_INTERRUPT = 2;
/** Moves to the beginning of the line and erases it (ECMA-48 ED). */
const ERASE = '\r\u001b[J';

/** Returns undefined in a pipe, in CI, on a dumb terminal, and with --quiet or --json. */
export function statusLine({ context, say }: Entry): StatusLine | undefined {
  const { env, stderr, signal } = context;
  const { quiet, json } = say.manner;
  if (!stderr.isTTY || isCi(env) || isDumb(env) || quiet || json) return undefined;
  let drawn = false;
  let over = false;
  const write = (text: string) => stderr.write(text).catch(() => {});
  const clear = async (ended = false) => {
    if (!drawn) return;
    drawn = false;
    await write(ended ? `\u001b[1A${ERASE}` : ERASE);
  };
  const interrupted = () => {
    over = true;
    void clear(signal.reason === 'SIGINT');
  };
  signal.addEventListener('abort', interrupted, { once: true });
  return {
    draw: (line) => {
      if (over) return;
      drawn = true;
      void write(lineStart(stderr) + ERASE + line(stderr.columns - WIDTH_OF_INTERRUPT));
    },
    clear,
    ends: async () => {
      over = true;
      signal.removeEventListener('abort', interrupted);
      await clear();
    },
  };
}
