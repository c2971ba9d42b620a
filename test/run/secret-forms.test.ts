import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { automatonOf } from '../../src/run/automaton';
import { streamMask } from '../../src/run/mask';
import { formsOf, MOST_ENCODED } from '../../src/run/secret-forms';
import { times } from '../helpers/long';

function masked(output: string, ...texts: readonly string[]): string {
  const secrets = texts.map((text, at) => ({ name: `V${at}`, text }));
  const mask = streamMask(automatonOf(formsOf(secrets).patterns));
  return Buffer.concat([mask.push(Buffer.from(output)), mask.end()]).toString();
}

const KEY = '-----BEGIN KEY-----\nMIIabcdefgh\nij\nklmnopqr\n-----END KEY-----\n';

test.each([
  ['a text', 'hunter2', 'is hunter2.', 'is ***.'],
  ['not its line end', 'hunter2\n', 'hunter2\nmore', '***\nmore'],
  ['a whole text of several lines', KEY, `${KEY}.`, '***\n.'],
  ['each line, with other line ends', KEY, KEY.replaceAll('\n', '\r\n'), '***\r\n***\r\nij\r\n***\r\n***\r\n'],
  ['each line of a text with other line ends', 'alpha\r\nbravo', 'bravo alpha', '*** ***'],
  ['a line without its indentation', 'a:\n    secret', '  secret', '  ***'],
  ['a text with white space around it', ' se cret ', '[ se cret ][se cret]', '[***][***]'],
  ['JSON', 'a"b\\c\n', JSON.stringify({ a: 'a"b\\c\n' }), '{"a":"***"}'],
  ['JSON as Go writes it', 'p<a>&"', '{"a":"p\\u003ca\\u003e\\u0026\\""}', '{"a":"***"}'],
  ['a URL', 'p w/ä!', `?p=${encodeURIComponent('p w/ä!')}&x`, '?p=***&x'],
  ['a form', 'p w/ä!*', `${new URLSearchParams({ p: 'p w/ä!*', x: '1' })}`, 'p=***&x=1'],
  ['not a lone surrogate', 'pass\ud800word', 'pass\ufffdword', '***'],
  ['nothing blank', '    \n\t\t\t\t\t\nabcd', '      \n\t\t\t\t\t\t', '      \n\t\t\t\t\t\t'],
])('%s', (_, secret, output, wanted) => {
  expect(masked(output, secret)).toBe(wanted);
});

test('base64 and base64url, padded or not, wherever in a text', () => {
  const text = fc.string({ minLength: 4, unit: 'binary' });
  const neighbour = fc.uint8Array({ maxLength: 4 });
  fc.assert(
    fc.property(
      ...[text.filter((one) => one.trim().length >= 4), neighbour, neighbour],
      fc.constantFrom('base64' as const, 'base64url' as const),
      (secret, before, after, encoding) => {
        const bytes = Buffer.from(secret);
        const encoded = Buffer.concat([before, bytes, after]).toString(encoding);
        // What the neighbours have a part in is left: one sign on each side, and those of the neighbours alone.
        const head = Math.ceil((before.length * 8) / 6);
        const end = Math.floor(((before.length + bytes.length) * 8) / 6);
        const tail = after.length === 0 ? encoded.length : end;
        const wanted = `${encoded.slice(0, head)}***${encoded.slice(tail)}`;
        // Neighbours may look like a part of the secret.
        expect(masked(encoded, secret).length).toBeLessThanOrEqual(wanted.length);
        const seen = encoded.slice(head, tail);
        if (seen.length >= 4) expect(masked(`.${seen}.`, secret)).toBe('.***.');
      },
    ),
    { numRuns: times(200) },
  );
});

describe('of what is not searched for', () => {
  const formsWith = (...texts: readonly string[]) => formsOf(texts.map((text, at) => ({ name: `V${at}`, text })));

  test('short values and lines are told by name, and not masked', () => {
    expect(formsWith('abc', 'abcd', '', 'abcd\nxy\n\n', ' '.repeat(9)).short).toEqual(['V0', 'V3']);
    expect(masked('abc YWJj', 'abc')).toBe('abc YWJj');
  });

  test('long ones are told by name; their lines are masked', () => {
    const lines = Array.from({ length: 4000 }, (_, at) => `line-${at}`).join('\n');
    const line = 'x'.repeat(MOST_ENCODED);
    expect(formsWith('abcd', lines, line).long).toEqual(['V1', 'V2']);
    expect(masked('line-7 line-3999', lines)).toBe('*** ***');
    expect(masked(`.${line}.`, 'abcd', line)).toBe('.***.');
    const encoded = Buffer.from(line).toString('base64');
    expect(masked(encoded, 'abcd', line)).toBe(encoded);
  });

  test('what is more than there is room for is told by name', () => {
    const lines = Array.from({ length: 300_000 }, (_, at) => `line-${at}`).join('\n');
    expect(formsWith('abcd', lines, 'abcd', 'abcdefg')).toMatchObject({ beyond: ['V1'] });
    const most = 'x'.repeat(2 * 1024 * 1024);
    expect([formsWith(most).beyond, formsWith(`${most}x`).beyond]).toEqual([[], ['V0']]);
  });

  test('states grow with the length of the secrets only', () => {
    const text = 'a'.repeat(1024 * 1024);
    expect(automatonOf(formsWith(text).patterns).depth.length).toBe(text.length + 1);
  });
});
