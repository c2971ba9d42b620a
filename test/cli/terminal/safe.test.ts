import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { safe, safeLines } from '../../../src/cli/terminal/safe';

/** Not from the source: everything Unicode calls control, format, surrogate or separator of lines. */
const dangerous = /[\p{Cc}\p{Cs}\u2028\u2029\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/u;
const TAGS = /[\u{e0000}-\u{e007f}]/u;
const anything = fc.string({ unit: 'binary', size: 'medium' });

describe('safe', () => {
  test('makes every single dangerous code point visible, as ASCII', () => {
    const left: number[] = [];
    for (let code = 0; code <= 0x10ffff; code++) {
      const character = String.fromCodePoint(code);
      if (!dangerous.test(character) && !TAGS.test(character)) continue;
      if (!/^\\([ntr]|x[0-9a-f]{2}|u[0-9a-f]{4}|u\{[0-9a-f]+\})$/.test(safe(character))) left.push(code);
    }
    expect(left).toEqual([]);
  });

  test.each([
    ['hunter2 – Grüße 日本語 👍🏽 é', 'hunter2 – Grüße 日本語 👍🏽 é'],
    ['\u001b]0;owned\u0007', '\\x1b]0;owned\\x07'],
    ['line\nline\r\n\ttab', 'line\\nline\\r\\n\\ttab'],
    ['user\u202etxt.exe', 'user\\u202etxt.exe'],
    ['seen\u3164\uffa0\u034f\u115f', 'seen\\u3164\\uffa0\\u034f\\u115f'],
    ['☺️ 葛\u{e0100}', '☺️ 葛\u{e0100}'],
    ['\\x1b', '\\x1b'],
  ])('%j becomes %j', (text, shown) => {
    expect(safe(text)).toBe(shown);
  });
});

describe('safeLines', () => {
  test('keeps line ends and tabs, and is safe otherwise', () => {
    fc.assert(
      fc.property(anything, (text) => {
        const shown = safeLines(text);
        expect(shown.replace(/\r\n|\n|\t/g, '')).not.toMatch(dangerous);
        expect(shown.split('\n')).toHaveLength(text.split('\n').length);
      }),
    );
  });

  test('a lone carriage return cannot overwrite a line', () => {
    expect(safeLines('safe\rEVIL\r\nnext\n\tend\u001b[2J')).toBe('safe\\rEVIL\r\nnext\n\tend\\x1b[2J');
  });
});
