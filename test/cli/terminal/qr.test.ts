import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { Look } from '../../../src/cli/terminal/output';
import { qrCode } from '../../../src/cli/terminal/qr';
import { qrModules } from '../../../src/contract/qr-matrix';
import { read } from '../../helpers/qr';

const look = (columns: number, colour = false, rows = Number.POSITIVE_INFINITY): Look => ({
  tty: true,
  columns,
  rows,
  now: new Date(0),
  utf8: true,
  paint: (style, text) => (colour ? `<${style}>${text}` : text),
});

function drawing(text: string, look: Look): string {
  const code = qrCode(text, look);
  if ('problem' in code) throw new Error(code.problem);
  return code.drawing;
}

const LINK = 'https://pw.test/p/quyul5r5w08/r';
const KEY = 'AGE1LGGYHQRW2NLHCXPRM67Z43RTA597AZN8GKNAWJEHU9D9DL0JQ3YQQVFAFG';

describe('a QR code', () => {
  test('is as large as its quiet zone asks for, smaller where there is less room, and else says what it needs', () => {
    const size = (columns: number, rows: number) => {
      const lines = drawing(LINK, look(columns, false, rows))
        .trimEnd()
        .split('\n');
      return [lines[0]?.length, lines.length];
    };
    expect(size(500, 500)).toEqual([33, 17]);
    expect(size(27, 15)).toEqual([27, 14]);
    expect(qrCode(LINK, look(26))).toEqual({
      problem: 'the QR code needs 27 columns; this terminal has 26',
    });
    expect(qrCode(LINK, look(80, false, 15), 2)).toEqual({
      problem: 'the QR code needs 16 rows; this terminal has 15',
    });
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
    ['all that fits', 'ä'.repeat(1476)],
    ['capitals, which take less', `${LINK}#${KEY}`],
    ['capitals between others', `ä${'AB1 $%*+-./:'.repeat(3)}c${'X'.repeat(17)}`],
  ])('%s is what was drawn, in the colours of either theme', (_, text) => {
    const least = (qrModules(text)?.length ?? 0) + 2;
    for (const size of [500, least]) expect(read(drawing(text, look(size, true, Math.ceil(size / 2) + 1)))).toBe(text);
    expect(read(drawing(text, look(500)), { ink: 'light' })).toBe(text);
  });

  test('is drawn in spaces where the locale has no blocks', () => {
    const plain = (columns: number, rows?: number) => ({
      ...look(columns, true, rows),
      utf8: false,
    });
    expect(read(drawing(LINK, plain(500)))).toBe(LINK);
    const least = drawing(LINK, plain(54, 28));
    expect(read(least)).toBe(LINK);
    expect(stripVTControlCharacters(least)).toBe(`${' '.repeat(54)}\n`.repeat(27));
    const wide = { problem: 'the QR code needs 54 columns; this terminal has 53' };
    expect(qrCode(LINK, plain(53))).toEqual(wide);
    const high = { problem: 'the QR code needs 28 rows; this terminal has 27' };
    expect(qrCode(LINK, plain(80, 27))).toEqual(high);
    const colourless = { problem: 'the QR code needs colors, or a locale with UTF-8' };
    expect(qrCode(LINK, { ...look(500), utf8: false })).toEqual(colourless);
  });
});
