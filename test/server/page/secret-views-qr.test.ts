import jsqr from 'jsqr';
import { expect, test } from 'vitest';
import { qrView } from '../../../src/server/page/secret-views';
import { englishView } from '../../helpers/view';

const view = await englishView();

const SCALE = 3;

/** Whether each module of the drawing is dark, the quiet zone included. */
function modules(payload: string): boolean[][] {
  const html = qrView(view, payload).pieces.join('');
  const size = Number(/viewBox="0 0 (\d+) \d+" shape-rendering/.exec(html)?.[1]);
  const rows = Array.from({ length: size }, () => Array<boolean>(size).fill(false));
  const path = /fill="#000" d="([^"]*)"/.exec(html)?.[1] ?? '';
  for (const [, x, y, run] of path.matchAll(/M(\d+) (\d+)h(\d+)v1h-\3z/g))
    rows[Number(y)]?.fill(true, Number(x), Number(x) + Number(run));
  return rows;
}

function read(rows: boolean[][]): string | undefined {
  const side = rows.length * SCALE;
  const pixels = new Uint8ClampedArray(side * side * 4).fill(255);
  for (let y = 0; y < side; y++)
    for (let x = 0; x < side; x++)
      if (rows[Math.floor(y / SCALE)]?.[Math.floor(x / SCALE)])
        pixels.fill(0, 4 * (y * side + x), 4 * (y * side + x) + 3);
  return jsqr(pixels, side, side, { inversionAttempts: 'dontInvert' })?.data;
}

const payloads: Record<string, string> = {
  'a letter': 'a',
  'one byte': 'a'.repeat(300),
  'what is a checkerboard, too': 'U'.repeat(1024),
  digits: '0'.repeat(300),
  'an address': 'https://pw.example/p/abc-def?x=1#y',
};
// The last of a version, and the first of the next one (ISO/IEC 18004, table 7).
for (const bytes of [17, 18, 230, 231, 271, 272, 1465, 1466, 2953])
  payloads[`${bytes} bytes`] = 'Yz5'.repeat(1000).slice(0, bytes);

test.each(Object.entries(payloads))('a reader reads %s', (_, payload) => {
  expect(read(modules(payload))).toBe(payload);
});

test.each([
  [17, 21],
  [18, 25],
  [230, 53],
  [231, 57],
  [1465, 125],
  [1466, 129],
])('%i bytes take %i modules', (bytes, side) => {
  expect(modules('x'.repeat(bytes))).toHaveLength(side + 8);
});

test('one mask is laid on, and none compared', () => {
  for (const payload of ['a', 'b'.repeat(50), 'c'.repeat(1024), 'https://pw.example/']) {
    const row = modules(payload)[12] ?? [];
    const format = [...row.slice(4, 10), row[11]].map((dark) => (dark ? '1' : '0')).join('');
    // Level L and mask 0 (ISO/IEC 18004, table C.1), its first seven bits.
    expect(format).toBe('1110111');
  }
});
