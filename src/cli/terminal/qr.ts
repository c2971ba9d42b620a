import { MAX_QR_BYTES, QUIET_ZONE, qrModules } from '../../contract/qr-matrix';
import { folded } from './bounded-write';
import type { Entry, Look } from './output';

/** The drawing ends with a line end. */
type QrCode = { readonly drawing: string } | { readonly problem: string };

/**
 * Draws a text in half blocks, or in a locale without them in spaces. The quiet zone is as wide as the standard says, or
 * as the terminal has room: readers find the code by one module as well.
 * @param below number of lines that are to fit below the code
 */
export function qrCode(text: string, look: Look, below = 1): QrCode {
  const modules = qrModules(text);
  if (!modules)
    return { problem: `the text is too long for a QR code, which holds ${MAX_QR_BYTES} bytes` };
  if (!look.utf8 && !isColoured(look))
    return { problem: 'the QR code needs colors, or a locale with UTF-8' };
  const [across, high] = look.utf8 ? [1, 2] : [2, 1];
  const { columns, rows } = look.tty ? look : { columns: Infinity, rows: Infinity };
  const least = modules.length + 2;
  if (columns < across * least) return tooLarge(across * least, columns, 'columns');
  const lines = Math.ceil(least / high) + below;
  if (rows < lines) return tooLarge(lines, rows, 'rows');
  const quiet = (room: number) =>
    Math.min(QUIET_ZONE, Math.floor((Math.floor(room) - modules.length) / 2));
  const framed = inLight(modules, quiet(columns / across), quiet(high * (rows - below)));
  return { drawing: look.utf8 ? halfBlocks(framed, isColoured(look)) : spaces(framed) };
}

const isColoured = ({ paint }: Look) => paint('bold', 'x') !== 'x';

function tooLarge(needed: number, there: number, what: 'columns' | 'rows'): QrCode {
  return { problem: `the QR code needs ${needed} ${what}; this terminal has ${there}` };
}

/** Adds light modules: `sides` on the left and right, `ends` above and below. */
function inLight(modules: boolean[][], sides: number, ends: number): boolean[][] {
  const side = Array<boolean>(sides).fill(false);
  const end = Array<boolean[]>(ends).fill(Array<boolean>(modules.length).fill(false));
  return [...end, ...modules, ...end].map((row) => [...side, ...row, ...side]);
}

/** Draws two rows in a line: black on white whatever the theme, or without colour, light modules as blocks. */
function halfBlocks(rows: boolean[][], coloured: boolean): string {
  let lines = '';
  for (let index = 0; index < rows.length; index += 2) {
    const cells = (rows[index] ?? []).map((isDark, column) => {
      const upper = isDark === coloured;
      const lower = (rows[index + 1]?.[column] === true) === coloured;
      return upper ? (lower ? '█' : '▀') : lower ? '▄' : ' ';
    });
    const line = cells.join('');
    lines += coloured ? `\u001b[38;5;16;48;5;231m${line}\u001b[0m\n` : `${line}\n`;
  }
  return lines;
}

/** Draws two spaces for a module, as a cell of a terminal is about twice as high as wide. */
function spaces(rows: boolean[][]): string {
  const [light, dark] = ['\u001b[48;5;231m', '\u001b[48;5;16m'];
  const cells = (row: boolean[]) => row.map((isDark) => `${isDark ? dark : light}  `).join('');
  return rows.map((row) => `${cells(row)}\u001b[0m\n`).join('');
}

/**
 * Draws a link as a QR code, or prints why that is not possible.
 * @param below texts that are printed next: a reader needs the whole code, and a person the link
 */
export async function drawQr(
  { context: { stderr }, say }: Entry,
  link: string,
  below: readonly string[],
): Promise<void> {
  // The cursor takes a line, too.
  const lines = [...below, ''].flatMap((text) => linesOf(folded(text, stderr), stderr.columns));
  // A public key takes a third less room in capitals; its case says nothing (BIP 173).
  const text = link.replace(/#age1\w+$/, (key) => key.toUpperCase());
  let problem: string | undefined;
  await say.draw((look) => {
    const code = qrCode(text, look, lines.length);
    if ('drawing' in code) return code.drawing;
    problem = code.problem;
    return '';
  });
  if (problem !== undefined) await say.announce(problem);
}

/** Breaks lines as the terminal does: folding leaves a link whole. */
function linesOf(text: string, columns: number): string[] {
  return text
    .split('\n')
    .flatMap((line) => line.match(new RegExp(`.{1,${columns}}`, 'gs')) ?? ['']);
}
