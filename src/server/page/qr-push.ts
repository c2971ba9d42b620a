import QRCode from 'qrcode-terminal/vendor/QRCode/index.js';
import QRErrorCorrectLevel from 'qrcode-terminal/vendor/QRCode/QRErrorCorrectLevel.js';
import QRRSBlock from 'qrcode-terminal/vendor/QRCode/QRRSBlock.js';
import { frame, note } from './frame';
import { Markup, markup } from './markup';
import { preformatted, textView } from './text-push';

/** Light modules around the symbol that readers need to find it (ISO/IEC 18004, 6.3.8). */
const QUIET_ZONE = 4;
/** Bytes that version 40 holds at level L (ISO/IEC 18004, table 7). */
const MAX_BYTES = 2953;
/** The checkerboard (ISO/IEC 18004, 7.8.2). */
const MASK = 0;
/** Modules a side from which on a symbol is drawn larger. */
const DENSE = 60;

/** A QR code and the text in it; the text alone where that is too long. */
export function qrView(payload: string): Markup {
  const bytes = Buffer.from(payload, 'utf8');
  if (bytes.length > MAX_BYTES) return markup`${textView(payload)}${note(TOO_LONG)}`;
  const modules = encode(bytes);
  const dense = modules.length >= DENSE;
  return frame(
    'QR code',
    'QR code',
    markup`<div class="${dense ? 'code dense' : 'code'}" tabindex="-1">${drawing(modules)}</div>
<details class="plain"><summary>The text of the code</summary>
${preformatted(payload, 'The text of the code')}
</details>`,
    'Copy text',
  );
}

const TOO_LONG = 'This text was meant to be a QR code, but is too long for one.';

/** Whether each module is dark, row by row. */
function encode(bytes: Buffer): boolean[][] {
  const code = new QRCode(versionFor(bytes.length), QRErrorCorrectLevel.L);
  // Readers take any of the eight masks; comparing them takes most of the time, on the only thread.
  code.getBestMaskPattern = () => MASK;
  // The encoder takes one byte a character.
  code.addData(bytes.toString('latin1'));
  code.make();
  return code.modules;
}

/** The smallest version that holds so many bytes; the encoder itself would write them into each. */
function versionFor(bytes: number): number {
  for (let version = 1; version < 40; version++) {
    const blocks = QRRSBlock.getRSBlocks(version, QRErrorCorrectLevel.L);
    const room = blocks.reduce((sum, { dataCount }) => sum + dataCount, 0);
    // Four bits of mode, and the length (ISO/IEC 18004, 7.4.1).
    if (room * 8 >= 4 + (version < 10 ? 8 : 16) + bytes * 8) return version;
  }
  return 40;
}

/** Dark on white in any scheme: readers need not take it the other way round. */
function drawing(modules: boolean[][]): Markup {
  const size = modules.length + 2 * QUIET_ZONE;
  const lines = modules.map((row, index) => line(row, index + QUIET_ZONE)).join('');
  return new Markup(
    `<svg role="img" aria-label="QR code" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${size}v${size}H0z"/><path fill="#000" d="${lines}"/></svg>`,
  );
}

/** The dark runs of a row as rectangles. */
function line(row: boolean[], y: number): string {
  let path = '';
  for (let x = 0; x < row.length; ) {
    let run = 1;
    while (x + run < row.length && row[x + run] === row[x]) run++;
    if (row[x]) path += `M${x + QUIET_ZONE} ${y}h${run}v1h-${run}z`;
    x += run;
  }
  return path;
}
