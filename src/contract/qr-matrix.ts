import QRCode from 'qrcode-terminal/vendor/QRCode/index.js';
import QRErrorCorrectLevel from 'qrcode-terminal/vendor/QRCode/QRErrorCorrectLevel.js';
import QRRSBlock from 'qrcode-terminal/vendor/QRCode/QRRSBlock.js';

/** Light modules around the symbol that readers need to find it (ISO/IEC 18004, 6.3.8). */
export const QUIET_ZONE = 4;
/** Bytes that version 40 holds at level L (ISO/IEC 18004, table 7). */
export const MAX_QR_BYTES = 2953;

/**
 * The modules of a QR code, row by row, true for dark; undefined when the text has more than MAX_QR_BYTES.
 * @param mask the mask pattern (ISO/IEC 18004, 7.8.2); without it the one that scores best
 */
export function qrModules(text: string, mask?: number): boolean[][] | undefined {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length > MAX_QR_BYTES) return undefined;
  const code = new QRCode(versionFor(bytes.length), QRErrorCorrectLevel.L);
  if (mask !== undefined) code.getBestMaskPattern = () => mask;
  // The encoder takes one byte per character.
  code.addData(String.fromCharCode(...bytes));
  code.make();
  return code.modules;
}

/** The checkerboard (ISO/IEC 18004, 7.8.2). */
const MASK = 0;
/** Modules per side from which a symbol is drawn larger. */
const DENSE = 60;

export type QrDrawing = NonNullable<ReturnType<typeof qrDrawing>>;

/**
 * Draws a text as a QR code for a page, as a path of SVG; undefined when it is too long for one. `size` are modules per side,
 * with the quiet zone.
 */
export function qrDrawing(text: string) {
  // One mask: comparing all eight takes most of the time, on the thread that serves all requests.
  const modules = qrModules(text, MASK);
  if (!modules) return undefined;
  const path = modules.map((row, index) => rowPath(row, index + QUIET_ZONE)).join('');
  return { size: modules.length + 2 * QUIET_ZONE, path, dense: modules.length >= DENSE };
}

/** The dark runs of a row as rectangles. */
function rowPath(row: boolean[], y: number): string {
  let runs = '';
  for (let x = 0; x < row.length; ) {
    let run = 1;
    while (x + run < row.length && row[x + run] === row[x]) run++;
    if (row[x]) runs += `M${x + QUIET_ZONE} ${y}h${run}v1h-${run}z`;
    x += run;
  }
  return runs;
}

/** The smallest version that holds that many bytes. The encoder's own search encodes the data once for each version. */
function versionFor(bytes: number): number {
  for (let version = 1; version < 40; version++) {
    const blocks = QRRSBlock.getRSBlocks(version, QRErrorCorrectLevel.L);
    const room = blocks.reduce((sum, { dataCount }) => sum + dataCount, 0);
    // Four bits of mode, and the length (ISO/IEC 18004, 7.4.1).
    if (room * 8 >= 4 + (version < 10 ? 8 : 16) + bytes * 8) return version;
  }
  return 40;
}
