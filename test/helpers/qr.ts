import jsqr from 'jsqr';

/** Pixels of a module, as wide as high: a cell of a terminal is about twice as high as wide. */
const SCALE = 3;

// biome-ignore lint/suspicious/noControlCharactersInRegex: what sets the colours is no module
const COLOURS = /\u001b\[[\d;]*m/g;

const ofBlocks = (drawing: string) =>
  linesOf(drawing.replace(COLOURS, '')).flatMap((line) => [
    [...line].map((cell) => '█▀'.includes(cell)),
    [...line].map((cell) => '█▄'.includes(cell)),
  ]);

/** Each module is two spaces, on black or white. */
const ofSpaces = (drawing: string) =>
  linesOf(drawing).map((line) =>
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the colours are the modules
    Array.from(line.matchAll(/\u001b\[48;5;(16|231)m {2}/g), ([, colour]) => colour === '16'),
  );

const linesOf = (drawing: string) => drawing.replace(/\n$/, '').split('\n');

interface Reading {
  /** What a block is drawn with: black, unless a terminal without colours has light letters on dark ground. */
  readonly ink?: 'dark' | 'light';
}

/** What a reader reads in a drawing of half blocks or spaces, its own colours being all there is around it; undefined for nothing. */
export function read(drawing: string, { ink = 'dark' }: Reading = {}): string | undefined {
  const rows = /[█▀▄]/.test(drawing) ? ofBlocks(drawing) : ofSpaces(drawing);
  const [width, height] = [(rows[0]?.length ?? 0) * SCALE, rows.length * SCALE];
  const pixels = new Uint8ClampedArray(width * height * 4).fill(255);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const inked = rows[Math.floor(y / SCALE)]?.[Math.floor(x / SCALE)] ?? false;
      if (inked === (ink === 'dark')) pixels.fill(0, 4 * (y * width + x), 4 * (y * width + x) + 3);
    }
  return jsqr(pixels, width, height, { inversionAttempts: 'dontInvert' })?.data;
}
