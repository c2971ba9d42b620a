import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { chooseSource, readSecret, withoutOneLineEnd } from '../../src/cli/source';
import type { Context } from '../../src/platform/context';
import { CliError } from '../../src/platform/errors';

const folder = mkdtempSync(join(tmpdir(), 'pwpush-source-'));
afterAll(() => rmSync(folder, { recursive: true }));

const piping = (bytes: Uint8Array, env: Record<string, string> = {}) =>
  ({
    env,
    stdin: {
      isTTY: false,
      // In pieces, as pipes give them.
      bytes: async function* () {
        for (let at = 0; at < bytes.length; at += 7) yield bytes.subarray(at, at + 7);
      },
    },
  }) as unknown as Context;

const fromStdin = (bytes: Uint8Array | string, raw = false) =>
  readSecret({ from: { name: 'stdin' }, raw }, piping(Buffer.from(bytes as Uint8Array)));

const line = fc
  .string({ unit: 'grapheme', minLength: 1 })
  .map((text) =>
    Buffer.from(text)
      .toString('utf8')
      .replace(/[\r\n]/g, ''),
  )
  .filter((text) => text !== '');
const lineEnd = fc.constantFrom('\n', '\r\n');

describe('the newline rule', () => {
  test('one line loses exactly one line end', async () => {
    await fc.assert(
      fc.asyncProperty(line, lineEnd, async (text, end) => {
        expect(await fromStdin(text + end)).toBe(text);
        expect(await fromStdin(text)).toBe(text);
      }),
    );
  });

  test('several lines are kept to the byte, the last line end too', async () => {
    const several = fc.array(fc.oneof(line, fc.constant('')), { minLength: 2 });
    await fc.assert(
      fc.asyncProperty(several, lineEnd, lineEnd, async (lines, between, end) => {
        const text = lines.join(between) + end;
        expect(await fromStdin(text)).toBe(text);
      }),
    );
  });

  test('--raw keeps everything', async () => {
    await fc.assert(
      fc.asyncProperty(line, lineEnd, async (text, end) => {
        expect(await fromStdin(text + end, true)).toBe(text + end);
      }),
    );
  });

  test.each([
    ['a\n', 'a'],
    ['a\r\n', 'a'],
    ['a\n\n', 'a\n\n'],
    ['\na', '\na'],
    ['a\nb', 'a\nb'],
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
    await expect(
      readSecret({ from: { name: 'stdin' }, raw: false }, {
        stdin: {
          bytes: async function* () {
            for (let at = 0; at < 17; at++) yield Buffer.alloc(1024 * 1024, 'a');
          },
        },
      } as unknown as Context),
    ).rejects.toMatchObject({ code: 'usage' });
  });
});

describe('a file', () => {
  test('is verbatim', async () => {
    const path = join(folder, 'one-line');
    writeFileSync(path, 'hunter2\n');
    const read = readSecret(
      { from: { name: 'file', value: path }, raw: false },
      piping(Buffer.of()),
    );
    expect(await read).toBe('hunter2\n');
  });
});

test('a variable is verbatim; one that is not set or empty is refused', async () => {
  const read = (env: Record<string, string>) =>
    readSecret({ from: { name: 'env', value: 'DB' }, raw: false }, piping(Buffer.of(), env));
  expect(await read({ DB: ' a\n' })).toBe(' a\n');
  for (const env of [{}, { DB: '' }] as Record<string, string>[])
    await expect(read(env)).rejects.toMatchObject({ code: 'usage' });
});

describe('which source it is', () => {
  const named = {
    text: 'the text argument',
    from: '--from',
    env: '--env',
    generate: '--generate',
  };

  test('one that is named wins over standard input and the prompt', () => {
    const chosen = [
      chooseSource({ raw: false, text: 'x' }, false, false),
      chooseSource({ raw: false, from: 'f' }, true, true),
      chooseSource({ raw: false, from: '-' }, true, true),
      chooseSource({ raw: false, env: 'E' }, false, false),
      chooseSource({ raw: false, generate: true }, false, false),
      chooseSource({ raw: false, generate: '32' }, false, false),
      chooseSource({ raw: false }, false, true),
      chooseSource({ raw: false }, true, true),
    ];
    expect(chosen).toEqual([
      { name: 'text', value: 'x' },
      { name: 'file', value: 'f' },
      { name: 'stdin' },
      { name: 'env', value: 'E' },
      { name: 'generate', wanted: { of: 'signs', count: 24 } },
      { name: 'generate', wanted: { of: 'signs', count: 32 } },
      { name: 'stdin' },
      { name: 'prompt' },
    ]);
  });

  test('two named ones are refused, whichever and wherever', () => {
    const two = fc.subarray(Object.keys(named), { minLength: 2 });
    fc.assert(
      fc.property(two, fc.boolean(), fc.boolean(), (names, isTTY, canPrompt) => {
        const options = Object.fromEntries(names.map((name) => [name, '32']));
        expect(() => chooseSource({ raw: false, ...options }, isTTY, canPrompt)).toThrow(CliError);
      }),
    );
  });

  test('none, and nobody to ask, is refused', () => {
    expect(() => chooseSource({ raw: false }, true, false)).toThrow(CliError);
  });
});
