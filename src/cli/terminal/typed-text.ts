import { StringDecoder } from 'node:string_decoder';
import type { Extent, PromptStreams } from '../../platform/context';
import { CliError, phrase } from '../../platform/errors';
import { PASTE, PASTED, REDRAW, severalLines } from './keyboard';

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const CTRL_U = '\u0015';
const CTRL_W = '\u0017';
const BACKSPACES = ['\b', '\u007f'];
const LINE_ENDS = ['\r', '\n', '\r\n'];
const ALT_ENTER = '\u001b\r';
const DELETE = '\u001b[3~';

/** How far keys move the cursor: arrows, Home and End (xterm), Ctrl-A and Ctrl-E (readline). */
const MOVES: readonly (readonly [by: number, ...keys: readonly string[]])[] = [
  [-1, '\u001b[D', '\u001bOD'],
  [1, '\u001b[C', '\u001bOC'],
  [-Infinity, '\u001b[H', '\u001bOH', '\u001b[1~', '\u0001'],
  [Infinity, '\u001b[F', '\u001bOF', '\u001b[4~', '\u0005'],
];

/** Matches a character, or the sequence of a key without a character (ECMA-48, xterm). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: of a terminal
const KEYS = /\u001b(?:\[[\d;]*[A-Za-z~]|O[A-Z]|\r)|\r\n|[\s\S]/gu;

interface Typing {
  readonly extent: Extent;
  /** Writes the question: at first, when the program continues after Ctrl-Z, and when what it shows may change. */
  draw(text: string, lines: number): void;
}

/**
 * Reads a text, of which only `draw` shows anything. Line ends are part of it if the terminal marks them as pasted.
 * @throws CliError (usage) for several lines in place of one; `interrupted` for signals, Ctrl-C, and Ctrl-D at first
 */
export function typedText(
  { input, output, signal }: PromptStreams,
  { extent, draw }: Typing,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const decoder = new StringDecoder();
    const text = editable(extent);
    let pasting = false;
    let drawn = 0;
    const redraw = () => {
      drawn = text.lines();
      draw(text.whole(), drawn);
    };
    const end = () => {
      input.off('data', onData).off('end', leave).pause();
      signal.removeEventListener('abort', leave);
      output.write('\n');
    };
    const leave = () => {
      end();
      reject(new CliError('interrupted', phrase('interrupted')));
    };
    const accept = (rest: readonly string[]) => {
      // A Ctrl-C after the end of a text that was typed ahead still ends the run.
      if (rest.includes(CTRL_C)) return leave();
      end();
      const cut = rest.some((key) => !LINE_ENDS.includes(key));
      if (cut || (extent === 'line' && text.lines() > 1)) reject(severalLines(extent));
      else resolve(text.whole());
    };
    const ends = (key: string) => (extent === 'all' ? key === CTRL_D : LINE_ENDS.includes(key));
    const onData = (data: Buffer) => {
      if (data.toString() === REDRAW) return redraw();
      const keys = decoder.write(data).match(KEYS) ?? [];
      for (const [index, key] of keys.entries()) {
        if (key === PASTE || key === PASTED) pasting = key === PASTE;
        else if (pasting) text.add(key);
        else if (ends(key)) return accept(keys.slice(index + 1));
        else if (key === CTRL_C || (key === CTRL_D && text.whole() === '')) return leave();
        else text.press(key);
      }
      if (!pasting && (extent === 'link' || text.lines() !== drawn)) redraw();
    };
    redraw();
    input.on('data', onData).once('end', leave).resume();
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
  });
}

function editable(extent: Extent) {
  const typed: string[] = [];
  let cursor = 0;
  let ends = 0;
  let last = '';
  const add = (key: string) => {
    // A terminal may send the two characters of a line end in two pieces.
    const second = key === '\n' && last === '\r';
    last = key;
    if (second) return;
    const lineEnd = LINE_ENDS.includes(key);
    if (lineEnd) ends++;
    typed.splice(cursor++, 0, lineEnd ? '\n' : key);
  };
  const drop = () => {
    if (cursor === 0) return undefined;
    const [gone] = typed.splice(--cursor, 1);
    if (gone === '\n') ends--;
    return typed[cursor - 1];
  };
  const press = (key: string) => {
    const [move] = MOVES.find(([, ...keys]) => keys.includes(key)) ?? [];
    if (move !== undefined) {
      // The cursor of a text that is shown is drawn behind it.
      if (extent !== 'link') cursor = Math.min(Math.max(0, cursor + move), typed.length);
    } else if (key === DELETE) {
      if (cursor < typed.length) {
        cursor++;
        drop();
      }
    } else if (BACKSPACES.includes(key)) drop();
    else if (key === CTRL_U) while (drop() !== undefined);
    else if (key === CTRL_W) while (!/^\s?$/.test(drop() ?? ''));
    else if (key === ALT_ENTER || LINE_ENDS.includes(key)) {
      if (extent !== 'line') add('\n');
    } else if (key >= ' ' || key === '\t') {
      if (!key.startsWith('\u001b')) add(key);
    }
  };
  const lines = () => ends + (typed.at(-1) === '\n' ? 0 : 1);
  return { add, press, lines, whole: () => typed.join('') };
}
