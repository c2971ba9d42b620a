import jsqr from 'jsqr';

/** Pixels of a module, as wide as high: a cell of a terminal is about twice as high as wide. */
const SCALE = 3;

// biome-ignore lint/suspicious/noControlCharactersInRegex: what sets the colours is no module
const COLOURS = /\u001b\[[\d;]*m/g;

interface Reading {
  /** What a block is drawn with: black, unless a terminal without colours has light letters on dark ground. */
  readonly ink?: 'dark' | 'light';
}

/** What a reader reads in a drawing of half blocks, its own colours being all there is around it; undefined for nothing. */
export function read(drawing: string, { ink = 'dark' }: Reading = {}): string | undefined {
  const lines = drawing.replace(COLOURS, '').replace(/\n$/, '').split('\n');
  const rows = lines.flatMap((line) => [
    [...line].map((cell) => '█▀'.includes(cell)),
    [...line].map((cell) => '█▄'.includes(cell)),
  ]);
  const [width, height] = [(rows[0]?.length ?? 0) * SCALE, rows.length * SCALE];
  const pixels = new Uint8ClampedArray(width * height * 4).fill(255);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const inked = rows[Math.floor(y / SCALE)]?.[Math.floor(x / SCALE)] ?? false;
      if (inked === (ink === 'dark')) pixels.fill(0, 4 * (y * width + x), 4 * (y * width + x) + 3);
    }
  return jsqr(pixels, width, height, { inversionAttempts: 'dontInvert' })?.data;
}
