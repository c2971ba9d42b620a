import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fitted, nameKey, numbered, safeName } from '../../src/secret/safe-name';

describe('a name somebody else chose', () => {
  test.each([
    ['report.pdf', 'report.pdf'],
    ['../../x', 'x'],
    ['/etc/passwd', 'passwd'],
    ['a\\b', 'b'],
    ['C:\\Windows\\x.dll', 'x.dll'],
    ['..\\..\\', 'file'],
    ['dir/', 'dir'],
    ['', 'file'],
    ['.', 'file'],
    ['..', 'file'],
    ['...', 'file'],
    ['.\u200b.', 'file'],
    ['/', 'file'],
    [' \t ', 'file'],
    ['a\u0000b\u001b[31m\u009bc\nd', 'ab[31mcd'],
    ['exe\u202efdp.scr', 'exefdp.scr'],
    ['zero\u200bwidth\ufeff.txt', 'zerowidth.txt'],
    ['lone \ud800 surrogate', 'lone  surrogate'],
    ['name. . .', 'name'],
    ['  name', 'name'],
    ['CON', '_CON'],
    ['nul.txt', '_nul.txt'],
    ['com1.tar.gz', '_com1.tar.gz'],
    ['LPT\u00b9', '_LPT\u00b9'],
    ['console', 'console'],
    ['.env', '.env'],
    ['-rf', '-rf'],
    ['ü漢🙂.txt', 'ü漢🙂.txt'],
  ])('%j is saved as %j', (name, safe) => {
    expect(safeName(name)).toBe(safe);
  });

  test('is cut to 255 bytes, its extension kept', () => {
    expect(safeName(`${'x'.repeat(400)}.tar.gz`)).toBe(`${'x'.repeat(248)}.tar.gz`);
    expect(safeName(`${'漢'.repeat(400)}.pdf`)).toBe(`${'漢'.repeat(83)}.pdf`);
    expect(safeName(`a.${'x'.repeat(400)}`)).toHaveLength(255);
  });

  test('is one safe component, whatever it was', () => {
    const anything = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 400 }),
      fc.string({
        unit: fc.constantFrom('.', '/', '\\', ' ', '\u202e', '\0', 'n', 'u', 'l', '漢', '\ud83d'),
        maxLength: 400,
      }),
    );
    fc.assert(
      fc.property(anything, fc.integer({ min: 2, max: 9999 }), (name, number) => {
        for (const safe of [safeName(name), numbered(safeName(name), number)]) {
          expect(safe).not.toMatch(/[/\\\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069\u200b-\u200f]/u);
          expect(['', '.', '..']).not.toContain(safe);
          expect(safe).not.toMatch(/^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i);
          expect(safe).not.toMatch(/[. ]$/);
          expect(Buffer.byteLength(safe)).toBeLessThanOrEqual(255);
          expect(Buffer.from(safe).toString()).toBe(safe);
        }
        expect(safeName(safeName(name))).toBe(safeName(name));
      }),
      { numRuns: 500 },
    );
  });
});

describe('a second file of a name', () => {
  test.each([
    ['report.pdf', 'report (2).pdf'],
    ['a.tar.gz', 'a (2).tar.gz'],
    ['.env', '.env (2)'],
    ['plain', 'plain (2)'],
    ['v1.2 final', 'v1.2 final (2)'],
  ])('%j is %j', (name, second) => {
    expect(numbered(name, 2)).toBe(second);
  });

  test('still fits', () => {
    const name = safeName(`${'x'.repeat(300)}.pdf`);
    expect(numbered(name, 10)).toBe(`${'x'.repeat(246)} (10).pdf`);
  });

  test('names that some file systems take for the same have one key', () => {
    expect(nameKey('R\u00c9sum\u00e9.PDF')).toBe(nameKey('re\u0301sume\u0301.pdf'));
  });

  test('room can be less', () => {
    expect(fitted('abcdef.txt', '', 6)).toBe('ab.txt');
  });
});
