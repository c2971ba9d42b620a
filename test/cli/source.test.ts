import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chooseSource, readAll, readSecret, withoutOneLineEnd } from '../../src/cli/source';
import type { Context } from '../../src/platform/context';

const fromStdin = (bytes: Uint8Array | string, raw = false) => {
  const all = Buffer.from(bytes as Uint8Array);
  const pieces = async function* () {
    for (let at = 0; at < all.length; at += 7) yield all.subarray(at, at + 7);
  };
  const context = { stdin: { isTTY: false, bytes: pieces } } as unknown as Context;
  return readSecret({ from: { name: 'stdin' }, raw }, context);
};

test.each([{ text: '-' }, { from: '-' }])('a dash is standard input, also where that is a terminal: %j', (options) => {
  const stdin = { isTTY: true } as Context['stdin'];
  expect(chooseSource(options, { stdin, canPrompt: () => true })).toEqual({ name: 'stdin' });
});

describe('the newline rule', () => {
  test('is that of the whole text, however it comes, and there is none with --raw', async () => {
    const some = fc.array(fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('\n', '\r\n')));
    await fc.assert(
      fc.asyncProperty(some, async (pieces) => {
        const text = pieces.join('');
        fc.pre(withoutOneLineEnd(text) !== '');
        expect(await fromStdin(text)).toBe(withoutOneLineEnd(text));
        expect(await fromStdin(text, true)).toBe(text);
      }),
    );
  });

  test.each([
    ['a\n', 'a'],
    ['a\r\n', 'a'],
    ['a\n\n', 'a\n\n'],
    ['a\r', 'a\r'],
    [' a \n', ' a '],
    ['\ufeffa\n', '\ufeffa'],
    ['a\u2028b\n', 'a\u2028b'],
    ['a\0b\n', 'a\0b'],
  ])('%j becomes %j', (text, rest) => {
    expect(withoutOneLineEnd(text)).toBe(rest);
  });
});

describe('input that is no text is refused', () => {
  test('invalid UTF-8, with a hint at --file', async () => {
    const invalid = fc
      .uint8Array({ minLength: 1 })
      .filter((bytes) => !Buffer.from(Buffer.from(bytes).toString('utf8')).equals(bytes));
    await fc.assert(
      fc.asyncProperty(invalid, async (bytes) => {
        await expect(fromStdin(bytes)).rejects.toMatchObject({ code: 'usage' });
      }),
    );
  });

  test.each(['', '\n', '\r\n'])('what is empty: %j', async (text) => {
    await expect(fromStdin(text)).rejects.toMatchObject({ code: 'usage' });
  });

  test('a text over 16 MiB', async () => {
    const text = async function* (last: number) {
      for (let at = 0; at < 15; at++) yield Buffer.alloc(1024 * 1024, 'a');
      yield Buffer.alloc(last, 'a');
    };
    const lengthWith = (last: number) => readAll(text(last)).then(({ length }) => length);
    expect(await lengthWith(1024 * 1024)).toBe(16 * 1024 * 1024);
    await expect(lengthWith(1024 * 1024 + 1)).rejects.toMatchObject({ code: 'usage' });
  });
});
