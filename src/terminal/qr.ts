import QRCode from 'qrcode-terminal/vendor/QRCode/index.js';
import QRErrorCorrectLevel from 'qrcode-terminal/vendor/QRCode/QRErrorCorrectLevel.js';
import type { Look } from './style';

/** Light modules around the symbol that readers need to find it (ISO/IEC 18004, 6.3.8). */
const QUIET_ZONE = 4;
/** Bytes that version 40 holds at level L (ISO/IEC 18004, table 7). */
const MAX_BYTES = 2953;

/** A drawing that ends with a newline, or why there is none. */
export type QrCode = { readonly drawing: string } | { readonly problem: string };

/** A text as a QR code, drawn in half blocks. */
export function qrCode(text: string, look: Look): QrCode {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length > MAX_BYTES)
    return { problem: `the text is too long for a QR code, which holds ${MAX_BYTES} bytes` };
  const modules = encode(bytes);
  const size = modules.length + 2 * QUIET_ZONE;
  if (look.tty && look.columns < size)
    return { problem: `the terminal is too narrow for the QR code: it needs ${size} columns` };
  return { drawing: draw(modules, size, look) };
}

/** Whether each module is dark, row by row. */
function encode(bytes: Buffer): boolean[][] {
  const code = new QRCode(-1, QRErrorCorrectLevel.L);
  // The encoder takes each character for a byte.
  code.addData(bytes.toString('latin1'));
  code.make();
  return code.modules;
}

/** Two rows a line. With colour, black on white whatever the theme; without, blocks are the light modules. */
function draw(modules: boolean[][], size: number, look: Look): string {
  const dark = (row: number, column: number) =>
    modules[row - QUIET_ZONE]?.[column - QUIET_ZONE] === true;
  const coloured = look.paint('bold', 'x') !== 'x';
  const lines: string[] = [];
  for (let row = 0; row < size; row += 2) {
    let line = '';
    for (let column = 0; column < size; column++) {
      const upper = dark(row, column) === coloured;
      const lower = dark(row + 1, column) === coloured && (coloured || row + 1 < size);
      line += upper ? (lower ? '█' : '▀') : lower ? '▄' : ' ';
    }
    lines.push(coloured ? `\u001b[38;5;16;48;5;231m${line}\u001b[0m` : line);
  }
  return `${lines.join('\n')}\n`;
}
