import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fold } from '../../src/terminal/fold';
import { width } from '../../src/terminal/text-width';
import { wrap } from '../../src/terminal/wrap';

describe('what is said on a terminal', () => {
  test('is broken between words, and what follows is indented', () => {
    expect(fold('hint: was the variable empty? an empty file is attached', 40)).toBe(
      'hint: was the variable empty? an empty\n  file is attached',
    );
  });

  test('stays as it is where it fits, and in a pipe', () => {
    const text = 'hint: log in with pwpush login';
    expect([fold(text, 30), fold(text, undefined)]).toEqual([text, text]);
  });

  test.each([
    'https://pwpush.example/p/abc123def456ghi789/r',
    'pwpush profile set insecure true',
    'pwpush serve token list',
    'pwpush run LINK -- ./deploy.sh',
    'tar cz FOLDER | pwpush push --file - --filename FOLDER.tar.gz',
    '--passphrase-file PATH',
    '/home/ann/My Documents/old keys/id_ed25519',
    '/home/ann/my key.pem',
    'C:\\Users\\Ann Bee\\pwpush\\rescued.txt',
    'PWPUSH_TOKEN=… pwpush list',
  ])('%s can be copied at whatever width', (whole) => {
    for (let columns = 12; columns < 120; columns++) {
      for (const text of [`hint: do this: ${whole}`, `pwpush: see ${whole}, or not at all`])
        expect(fold(text, columns)).toContain(whole);
    }
  });

  test('no line is wider than the terminal unless a word is, and no word is lost', () => {
    const words = fc.array(fc.stringMatching(/^[a-z日本é]{1,12}$/u), {
      minLength: 1,
      maxLength: 40,
    });
    fc.assert(
      fc.property(words, fc.integer({ min: 30, max: 100 }), (some, columns) => {
        const text = some.join(' ');
        const lines = fold(text, columns).split('\n');
        expect(lines.map((line) => line.trim()).join(' ')).toBe(text);
        for (const line of lines) expect(width(line)).toBeLessThanOrEqual(columns);
      }),
    );
  });
});

test('a word that is wider than the line stands alone in it', () => {
  expect(wrap('a 0123456789 b', 5)).toEqual(['a', '0123456789', 'b']);
});
