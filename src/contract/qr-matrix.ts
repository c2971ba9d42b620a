import QRCode from 'qrcode-terminal/vendor/QRCode/index.js';
import QRErrorCorrectLevel from 'qrcode-terminal/vendor/QRCode/QRErrorCorrectLevel.js';
import QRRSBlock from 'qrcode-terminal/vendor/QRCode/QRRSBlock.js';
import QRUtil from 'qrcode-terminal/vendor/QRCode/QRUtil.js';

/** Width in modules of the light border without which readers do not find the symbol (ISO/IEC 18004, 6.3.8). */
export const QUIET_ZONE = 4;
/** Bytes that version 40 holds at level L (ISO/IEC 18004, table 7). */
export const MAX_QR_BYTES = 2953;

/**
 * Returns the rows of a QR code, true for dark modules; undefined when the text has more than MAX_QR_BYTES.
 * @param mask mask pattern (ISO/IEC 18004, 7.8.2); by default the encoder chooses the one that scores best
 */
export function qrModules(text: string, mask?: number): boolean[][] | undefined {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length > MAX_QR_BYTES) return undefined;
  const segments = segmentsOf(String.fromCharCode(...bytes));
  const code = new QRCode(versionFor(segments), QRErrorCorrectLevel.L);
  if (mask !== undefined) code.getBestMaskPattern = () => mask;
  code.dataList.push(...segments);
  code.make();
  return code.modules;
}

/** Mask pattern 0, the checkerboard (ISO/IEC 18004, 7.8.2). */
const MASK = 0;
/** A symbol with at least this many modules per side is drawn larger. */
const DENSE = 60;

export type QrDrawing = NonNullable<ReturnType<typeof qrDrawing>>;

/** Returns an SVG path, and as `size` the modules per side with the quiet zone; undefined when the text is too long. */
export function qrDrawing(text: string) {
  // The mask is fixed, as comparing all eight takes most of the time and blocks the thread of all HTTP requests.
  const modules = qrModules(text, MASK);
  if (!modules) return undefined;
  const path = modules.map((row, index) => rowPath(row, index + QUIET_ZONE)).join('');
  return { size: modules.length + 2 * QUIET_ZONE, path, dense: modules.length >= DENSE };
}

/** Draws each run of dark modules as one rectangle. */
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

/** In alphanumeric mode, the value of a character is its index in this string (ISO/IEC 18004, table 5). */
const ALPHANUMERIC = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:';
/** Shorter runs stay in byte mode, as the header of a segment could take more bits than it saves. */
const RUN = /([0-9A-Z $%*+\-./:]{16,})/;

/** Alphanumeric mode takes 5.5 bits for a character, byte mode 8. qrcode-terminal itself uses byte mode only. */
function segmentsOf(bytes: string): Segment[] {
  const parts = bytes.split(RUN).map((part, i) => (i % 2 === 0 ? inBytes : alphanumeric)(part));
  return parts.filter((part) => part.bits > 0);
}

interface Segment extends QRSegment {
  readonly bits: number;
}

/** A segment in byte mode (ISO/IEC 18004, 7.4.5). */
function inBytes(text: string): Segment {
  return {
    mode: 4,
    bits: 8 * text.length,
    getLength: () => text.length,
    write: (buffer) => {
      for (const byte of text) buffer.put(byte.charCodeAt(0), 8);
    },
  };
}

/** A segment in alphanumeric mode (ISO/IEC 18004, 7.4.4). */
function alphanumeric(text: string): Segment {
  return {
    mode: 2,
    bits: Math.ceil(5.5 * text.length),
    getLength: () => text.length,
    write: (buffer) => {
      for (const [first = '', second] of text.match(/..?/g) ?? []) {
        const value = ALPHANUMERIC.indexOf(first);
        if (second === undefined) buffer.put(value, 6);
        else buffer.put(45 * value + ALPHANUMERIC.indexOf(second), 11);
      }
    },
  };
}

/** Returns the smallest version with room for the segments. qrcode-terminal encodes the data once for each version. */
function versionFor(segments: readonly Segment[]): number {
  for (let version = 1; version < 40; version++) {
    const blocks = QRRSBlock.getRSBlocks(version, QRErrorCorrectLevel.L);
    const room = blocks.reduce((sum, { dataCount }) => sum + dataCount, 0);
    // A segment starts with four bits for its mode, and its length (ISO/IEC 18004, 7.4.1).
    const header = (mode: number) => 4 + QRUtil.getLengthInBits(mode, version);
    const bits = segments.reduce((sum, { mode, bits }) => sum + header(mode) + bits, 0);
    if (room * 8 >= bits) return version;
  }
  return 40;
}
