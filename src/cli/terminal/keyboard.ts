import { PassThrough } from 'node:stream';
import type { Extent, TerminalSignals } from '../../platform/context';
import { type CliError, usageError } from '../../platform/errors';

type TerminalInput = NodeJS.ReadableStream & { setRawMode?(raw: boolean): unknown };

export function severalLines(extent: Extent): CliError {
  return usageError(
    'the pasted text has several lines, and the prompt accepts one; nothing was sent',
    extent === 'link'
      ? 'paste the link alone, or pipe it in: LINK can be -'
      : 'pipe it in, or use --from FILE',
  );
}

/** Terminals in mode 2004 put these sequences around pasted text (xterm, "Bracketed Paste Mode"). */
export const PASTE = '\u001b[200~';
export const PASTED = '\u001b[201~';

const CTRL_C = 3;
const CTRL_Z = 26;
const ESCAPE = 27;
/** Matches what arrow and function keys send after Escape, and how pasted text begins (ECMA-48, xterm). */
const SEQUENCE = /^(\[[\d;]*[A-Za-z~]$|O[A-Z]$|\[20)/;
/** In milliseconds: a terminal sends the rest of a sequence, and nobody types another key, within this time. */
const SEQUENCE_TIME = 200;
const SEQUENCE_BEGUN = /^[[O]$/;
/** Space and backspace make a prompt redraw without changing its text. */
export const REDRAW = ' \u007f';

/**
 * Keeps the terminal silent between questions: each gives the terminal back, which would then echo what is typed ahead,
 * a secret too. Questions handle Ctrl-C themselves. They do not get Ctrl-Z, as readline would read no more and what is
 * typed would go to the shell, nor Escape alone, as readline would silently drop the next character.
 */
export function keyboard(terminal: TerminalInput, { interrupt, suspend }: TerminalSignals) {
  const raw = (on: boolean) => void terminal.setRawMode?.(on);
  const keys = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => {} });
  let escaped: number | undefined;
  let pasting = false;
  let before = '';
  const pass = (data: Buffer) => {
    const text = before + data.toString('latin1');
    const [opened, closed] = [text.lastIndexOf(PASTE), text.lastIndexOf(PASTED)];
    if (opened !== closed) pasting = opened > closed;
    before = text.slice(1 - PASTE.length);
    keys.write(data);
  };
  const onData = (data: Buffer) => {
    if (keys.isPaused() && data.includes(CTRL_C)) return interrupt();
    // Within pasted text, Escape begins `PASTED`, which a slow line may cut anywhere.
    if (!pasting && data.length === 1 && data[0] === ESCAPE) {
      escaped = performance.now();
      return;
    }
    if (escaped !== undefined) {
      const soon = performance.now() - escaped < SEQUENCE_TIME;
      const typed = data.toString();
      if (SEQUENCE.test(typed) || (soon && SEQUENCE_BEGUN.test(typed))) pass(Buffer.of(ESCAPE));
    }
    escaped = undefined;
    const stop = suspend === undefined ? -1 : data.indexOf(CTRL_Z);
    if (stop === -1) return pass(data);
    pass(data.subarray(0, stop));
    raw(false);
    suspend?.();
    raw(true);
    if (!keys.isPaused()) keys.write(REDRAW);
    onData(data.subarray(stop + 1));
  };
  const end = () => void keys.end();
  let taken = false;
  return {
    keys: keys as NodeJS.ReadableStream,
    /** Does nothing if the terminal is taken already; it echoes no keys until `release`. */
    take: () => {
      if (taken) return;
      taken = true;
      raw(true);
      terminal.on('data', onData);
      terminal.once('end', end);
      terminal.resume();
    },
    release: () => {
      if (!taken) return;
      taken = false;
      terminal.off('data', onData);
      terminal.off('end', end);
      terminal.pause();
      raw(false);
    },
  };
}
