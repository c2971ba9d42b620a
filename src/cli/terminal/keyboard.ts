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
const ESCAPE = '\u001b';
/**
 * Match control sequences (ECMA-48, xterm), and the beginning of one whose rest has not arrived: CSI, of which the Linux
 * console has one with two brackets and a mouse in the mode of X10 one with three bytes behind it; SS3; and strings.
 */
// biome-ignore-start lint/suspicious/noControlCharactersInRegex: of a terminal
const SEQUENCES =
  /\u001b(?:\[(?:\[[A-E]|M[^\0-\u001f]{3}|[0-?]*[ -/]*[@-Z\\-~])|O[0-?]*[@-~]|[\]PX^_][^\0-\u001f\u007f]*(?:\u0007|\u001b\\))/g;
const BEGUN =
  /\u001b(?:\[(?:\[|M[^\0-\u001f]{0,2}|[0-?]*[ -/]*)|O[0-?]*|[\]PX^_][^\0-\u001f\u007f]*\u001b?)?$/;
/** Matches keys that move and delete. All other sequences are reports, which programs ask for and may leave unread. */
const KEY = /^\u001b(?:O[A-Z]|\[(?:\d?\d(?:;\d)?)?[A-FHZ~])$/;
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: of a terminal
const MARKS = new RegExp(`(${PASTE}|${PASTED})`.replaceAll('[', '\\['));
/** In milliseconds: a terminal sends the rest of a sequence, and nobody types another key, within this time. */
const SEQUENCE_TIME = 200;
/** Matches what follows Escape in a sequence, but no text that a person would send as one. */
const REST = /^(?:[[O]$|\[[A-Z\d<=>?]|[\]PX^_])/;
/** Space and backspace make a prompt redraw without changing its text. */
export const REDRAW = ' \u007f';

/**
 * Keeps the terminal silent between questions: each gives the terminal back, which would then echo what is typed ahead,
 * a secret too. Questions handle Ctrl-C themselves. They do not get Ctrl-Z, as readline would read no more and what is
 * typed would go to the shell, nor Escape alone, as readline would silently drop the next character, nor reports, which
 * would become part of a secret.
 */
export function keyboard(terminal: TerminalInput, { interrupt, suspend }: TerminalSignals) {
  const raw = (on: boolean) => void terminal.setRawMode?.(on);
  const keys = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => {} });
  let begun = '';
  let begunAt = 0;
  let pasting = false;
  const continues = (text: string) =>
    pasting ||
    text.startsWith('[20') ||
    (ESCAPE + text).replace(SEQUENCES, '') === '' ||
    (performance.now() - begunAt < SEQUENCE_TIME && REST.test(text));
  const pass = (data: Buffer) => {
    const typed = data.toString('latin1');
    const text = begun === ESCAPE && !continues(typed) ? typed : begun + typed;
    [begun = ''] = BEGUN.exec(text) ?? [];
    begunAt = performance.now();
    let passed = '';
    for (const part of text.slice(0, text.length - begun.length).split(MARKS)) {
      const isMark = part === PASTE || part === PASTED;
      if (isMark) pasting = part === PASTE;
      passed +=
        isMark || pasting
          ? part
          : part.replace(SEQUENCES, (sequence) => (KEY.test(sequence) ? sequence : ''));
    }
    if (passed !== '') keys.write(Buffer.from(passed, 'latin1'));
  };
  const onData = (data: Buffer) => {
    if (keys.isPaused() && data.includes(CTRL_C)) return interrupt();
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
