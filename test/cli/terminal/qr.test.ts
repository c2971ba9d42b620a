import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Look } from '../../../src/cli/terminal/output';
import { qrCode } from '../../../src/cli/terminal/qr';
import { read } from '../../helpers/qr';

const look = (columns: number, colour = false): Look => ({
  tty: true,
  columns,
  now: new Date(0),
  paint: (style, text) => (colour ? `<${style}>${text}` : text),
});

/** The drawing of a text that can be drawn. */
function drawing(text: string, look: Look): string {
  const code = qrCode(text, look);
  if ('problem' in code) throw new Error(code.problem);
  return code.drawing;
}

/** Whether each module is dark, read back from the drawing: without colour, blocks are the light ones. */
function modules(drawing: string): boolean[][] {
  return drawing
    .replace(/\n$/, '')
    .split('\n')
    .flatMap((line) => [
      [...line].map((character) => !'█▀'.includes(character)),
      [...line].map((character) => !'█▄'.includes(character)),
    ]);
}

const LINK = 'https://pw.test/p/quyul5r5w08/r';

describe('a QR code', () => {
  test('is a square of modules with a quiet zone of 4 on all sides', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 300 }), (text) => {
        const drawn = modules(drawing(text, look(500)));
        const size = drawn[0]?.length ?? 0;
        // ISO/IEC 18004: 21 modules and 4 more with each version.
        expect((size - 8 - 21) % 4).toBe(0);
        const rows = drawn.slice(0, size);
        expect(rows).toHaveLength(size);
        const isEdge = (at: number) => at < 4 || at >= size - 4;
        const quiet = rows.flatMap((row, y) => row.filter((_, x) => isEdge(x) || isEdge(y)));
        expect(quiet).not.toContain(true);
      }),
      { numRuns: 30 },
    );
  });

  test('takes as many columns as it has modules; a terminal with one less gets a word instead', () => {
    const size = drawing(LINK, look(500)).split('\n')[0]?.length ?? 0;
    expect(drawing(LINK, look(size)).split('\n')[0]).toHaveLength(size);
    expect(qrCode(LINK, look(size - 1))).toEqual({
      problem: `the terminal is too narrow for the QR code: it needs ${size} columns`,
    });
  });

  test('is black on white where colour is allowed, whatever the theme: the same modules inverted', () => {
    const plain = modules(drawing(LINK, look(500)));
    const lines = drawing(LINK, look(500, true)).trimEnd().split('\n');
    const [begin, end] = ['\u001b[38;5;16;48;5;231m', '\u001b[0m'];
    const bare = lines.map((line) => line.slice(begin.length, -end.length));
    expect(lines).toEqual(bare.map((line) => begin + line + end));
    const size = plain[0]?.length ?? 0;
    const inverted = modules(bare.join('\n')).map((row) => row.map((dark) => !dark));
    expect(inverted.slice(0, size)).toEqual(plain.slice(0, size));
  });

  test('that cannot hold the text is a word', () => {
    expect(qrCode('a'.repeat(2954), look(500))).toEqual({
      problem: 'the text is too long for a QR code, which holds 2953 bytes',
    });
    expect(drawing('a'.repeat(2953), look(500)).split('\n')).toHaveLength(94);
  });
});

describe('what a reader reads', () => {
  test.each([
    ['a link', LINK],
    ['other scripts and emoji', 'Größe ñ 日本語 العربية 🔑'],
    ['several lines and controls', 'a\u001b[31m\r\nb\tc'],
    ['all that fits', 'ä'.repeat(1476)],
  ])('%s is what was drawn, in the colours of either theme', (_, text) => {
    expect(read(drawing(text, look(500, true)))).toBe(text);
    expect(read(drawing(text, look(500)), { ink: 'light' })).toBe(text);
  });
});
