import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fitted, nameKey, numbered, safeName } from '../../src/deliver/safe-name';
import { times } from '../helpers/long';

describe('a name that someone else chose', () => {
  // More of them are in test/cases/get-files-names.txt.
  test.each([
    ['report.pdf', 'report.pdf'],
    ['C:\\Windows\\x.dll', 'x.dll'],
    ['..\\..\\', 'file'],
    ['dir/', 'dir'],
    ['.', 'file'],
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
    ['nul.txt', '_nul.txt'],
    ['com1.tar.gz', '_com1.tar.gz'],
    ['LPT\u00b9', '_LPT\u00b9'],
    ['console', 'console'],
    ['nul .txt', '_nul .txt'],
    ['CONIN$', '_CONIN$'],
    ['a<b>c"d|e?f*g', 'a_b_c_d_e_f_g'],
    ['a:b.txt', 'a_b.txt'],
    ['Makefile', 'Makefile'],
    ['..env', '_.env'],
    [' .\u200b.bashrc', '_.bashrc'],
    ['--output', '_-output'],
    ['ü漢🙂.txt', 'ü漢🙂.txt'],
  ])('%j is saved as %j', (name, safe) => {
    expect(safeName(name)).toBe(safe);
  });

  test.each([
    ['.env', '.env'],
    ['.Env.local', '.Env.local'],
    ['.env-prod', '.env-prod'],
    ['..env', '_.env'],
    ...`.envrc .envrc.local .BashRC .profile .npmrc .netrc .ssh .ss\u200bh .git .yarnrc.yml .pnpmfile.cjs
      .eslintrc.js .mocharc.cjs .babelrc.js .mcp.json .devcontainer.json .pre-commit-config.yaml
      .mise.toml .rspec .aider.conf.yml .nvim.lua .mailcap .user.ini .htaccess .well-known .profile.pdf`
      .split(/\s+/)
      .map((name): [string, string] => [name, `_${name.slice(1).replace('\u200b', '')}`]),
  ])('%j for a folder that the user named is %j', (name, safe) => {
    expect(safeName(name, true)).toBe(safe);
  });

  test('of any length costs no more than a short one: the name of 2 MiB does not hang', () => {
    for (const filler of ['.', ' ', '. ', './', '.\u200b', '\t', '-', ':', '\ud83d'])
      for (const end of ['', 'a', '/a', '.pdf'])
        expect(safeName(filler.repeat(1024 * 1024) + end).length).toBeLessThanOrEqual(255);
  });

  test('is cut to 255 bytes, its extension kept', () => {
    expect(safeName(`${'x'.repeat(400)}.tar.gz`)).toBe(`${'x'.repeat(248)}.tar.gz`);
    expect(safeName(`${'漢'.repeat(400)}.pdf`)).toBe(`${'漢'.repeat(83)}.pdf`);
    expect(safeName(`a.${'x'.repeat(400)}`)).toHaveLength(255);
    expect(safeName(`${'x'.repeat(100_000)}.tar.gz`)).toBe(`${'x'.repeat(248)}.tar.gz`);
    expect(safeName(`${'x'.repeat(254)} ${'y'.repeat(100)}`)).toBe('x'.repeat(254));
    expect(safeName(`${'.'.repeat(300)}${'x'.repeat(40)}`, true)).toBe('_');
  });

  test('is one safe component, whatever it was', () => {
    const signs = ['.', '/', '\\', ' ', ':', '-', '\u202e', '\0', 'n', 'u', 'l', '漢', '\ud83d'];
    const binary = (maxLength: number) => fc.string({ unit: 'binary', maxLength });
    const anything = fc.oneof(
      binary(400),
      fc.string({ unit: fc.constantFrom(...signs), maxLength: 400 }),
      // Around the place where a name is cut.
      fc.tuple(fc.integer({ min: 240, max: 260 }), binary(20)).map(([length, end]) => 'x'.repeat(length) + end),
    );
    const numbers = fc.integer({ min: 2, max: 9999 });
    fc.assert(
      fc.property(anything, fc.boolean(), numbers, (name, dot, number) => {
        const once = safeName(name, dot);
        for (const safe of [once, numbered(once, number)]) {
          expect(safe).not.toMatch(dot ? /^(?:-|\.(?!env(?:[._ -]|$)))/i : /^[-.]/);
          expect(safe).not.toMatch(/[/\\<>:"|?*\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069\u200b-\u200f]/u);
          expect(['', '.', '..']).not.toContain(safe);
          expect(safe).not.toMatch(/^(con|prn|aux|nul|com\d|lpt\d) *(\.|$)/i);
          expect(safe).not.toMatch(/[. ]$/);
          expect(Buffer.byteLength(safe)).toBeLessThanOrEqual(255);
          expect(Buffer.from(safe).toString()).toBe(safe);
        }
        expect(safeName(once, dot)).toBe(once);
      }),
      { numRuns: times(500) },
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
