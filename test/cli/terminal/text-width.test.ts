import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { shorten, width, wrap } from '../../../src/cli/terminal/text-width';

describe('cells', () => {
  test.each([
    ['Grüße', 5],
    ['日本語', 6],
    ['e\u0301', 1],
    ['हिन्दी', 5],
    ['❤\ufe0f', 2],
    ['1\ufe0f\u20e3', 2],
    ['👍\ufe0f', 2],
    ['中\ufe00', 2],
    ['\u{1f321}\u3248', 2],
  ])('%s is %d columns wide', (text, columns) => {
    expect(width(text)).toBe(columns);
  });

  test.each([
    ['🇩🇪🇫🇷x', 4, '🇩🇪…'],
    ['ab❤\ufe0f', 3, 'ab…'],
    ['cafe\u0301s!', 5, 'cafe\u0301…'],
  ])('of %s %d columns show %s: what is read as one is cut as one', (text, room, short) => {
    expect(shorten(text, room)).toBe(short);
  });

  test('a shortened text fits, begins like the text, and says that it was cut', () => {
    const room = fc.integer({ min: 1, max: 40 });
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), room, (text, room) => {
        const short = shorten(text, room);
        expect(width(short)).toBeLessThanOrEqual(room);
        if (width(text) <= room) expect(short).toBe(text);
        else expect([text.startsWith(short.slice(0, -1)), short.at(-1)]).toEqual([true, '…']);
      }),
    );
  });
});

describe('wrapped', () => {
  test('a word that is wider than the line is alone in it', () => {
    expect(wrap('a 0123456789 b', 5)).toEqual(['a', '0123456789', 'b']);
  });

  test('no line is wider unless a word is, and no word is lost', () => {
    const word = fc.stringMatching(/^[a-z日本é]{1,12}$/u);
    const words = fc.array(word, { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(words, fc.integer({ min: 30, max: 100 }), (some, columns) => {
        const text = some.join(' ');
        const lines = wrap(text, columns);
        expect(lines.join(' ')).toBe(text);
        for (const line of lines) expect(width(line)).toBeLessThanOrEqual(columns);
      }),
    );
  });
});
