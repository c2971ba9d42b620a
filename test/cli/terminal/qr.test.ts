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

const LINK = 'https://pw.test/p/quyul5r5w08/r';

describe('a QR code', () => {
  test('takes as many columns as it has modules; a terminal with one less gets a word instead', () => {
    const size = drawing(LINK, look(500)).split('\n')[0]?.length ?? 0;
    expect(drawing(LINK, look(size)).split('\n')[0]).toHaveLength(size);
    expect(qrCode(LINK, look(size - 1))).toEqual({
      problem: `the terminal is too narrow for the QR code: it needs ${size} columns`,
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
  ])('%s is what was drawn, in the colours of either theme', (_, text) => {
    expect(read(drawing(text, look(500, true)))).toBe(text);
    expect(read(drawing(text, look(500)), { ink: 'light' })).toBe(text);
  });
});
