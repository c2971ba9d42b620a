import QRCode from 'qrcode-terminal/vendor/QRCode/index.js';
import QRErrorCorrectLevel from 'qrcode-terminal/vendor/QRCode/QRErrorCorrectLevel.js';
import QRRSBlock from 'qrcode-terminal/vendor/QRCode/QRRSBlock.js';
import QRUtil from 'qrcode-terminal/vendor/QRCode/QRUtil.js';

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
  const segments = segmentsOf(String.fromCharCode(...bytes));
  const code = new QRCode(versionFor(segments), QRErrorCorrectLevel.L);
  if (mask !== undefined) code.getBestMaskPattern = () => mask;
  code.dataList.push(...segments);
  code.make();
  return code.modules;
}

/** The checkerboard is the mask pattern 0 (ISO/IEC 18004, 7.8.2). */
const MASK = 0;
/** A symbol with at least this many modules per side is drawn larger. */
const DENSE = 60;

export type QrDrawing = NonNullable<ReturnType<typeof qrDrawing>>;

/**
 * Returns a path of SVG, and the modules per side with the quiet zone as `size`; undefined when the text is too long.
 */
export function qrDrawing(text: string) {
  // Comparing all eight masks takes most of the time, on the thread that serves all requests.
  const modules = qrModules(text, MASK);
  if (!modules) return undefined;
  const path = modules.map((row, index) => rowPath(row, index + QUIET_ZONE)).join('');
  return { size: modules.length + 2 * QUIET_ZONE, path, dense: modules.length >= DENSE };
}

/** A rectangle stands for each run of dark modules. */
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

/** The index of a character is its value in the alphanumeric mode (ISO/IEC 18004, table 5). */
const ALPHANUMERIC = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:';
/** A shorter run would save less than a segment of its own costs in some version. */
const RUN = /([0-9A-Z $%*+\-./:]{16,})/;

/** Alphanumeric characters take 5.5 bits, others 8; the encoder of the package knows bytes only. */
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

/**
 * Returns the smallest version with room for the segments. The encoder's own search encodes the data once for each
 * version.
 */
function versionFor(segments: readonly Segment[]): number {
  for (let version = 1; version < 40; version++) {
    const blocks = QRRSBlock.getRSBlocks(version, QRErrorCorrectLevel.L);
    const room = blocks.reduce((sum, { dataCount }) => sum + dataCount, 0);
    // Four bits of mode, and the length (ISO/IEC 18004, 7.4.1).
    const header = (mode: number) => 4 + QRUtil.getLengthInBits(mode, version);
    const bits = segments.reduce((sum, { mode, bits }) => sum + header(mode) + bits, 0);
    if (room * 8 >= bits) return version;
  }
  return 40;
}
