import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { automatonOf } from '../../src/run/automaton';
import { maskedStream, streamMask, type Timer } from '../../src/run/mask';
import { times } from '../helpers/long';

/** The text with each place that is part of a secret replaced, found one by one. */
function replaced(text: string, secrets: readonly string[]): string {
  const secret = Array.from(text, () => false);
  for (const one of secrets)
    for (let at = text.indexOf(one); at >= 0; at = text.indexOf(one, at + 1))
      secret.fill(true, at, at + one.length);
  return Array.from(text, (sign, at) => {
    if (!secret[at]) return sign;
    return secret[at - 1] ? '' : '***';
  }).join('');
}

function masked(chunks: readonly string[], secrets: readonly string[], rows?: number): string {
  const mask = streamMask(automatonOf(secrets, rows));
  const told = chunks.map((chunk) => mask.push(Buffer.from(chunk, 'latin1')));
  return Buffer.concat([...told, mask.release()]).toString('latin1');
}

/** Pieces of that many characters. */
const inPieces = (text: string, length: number) => text.match(RegExp(`.{1,${length}}`, 'gs')) ?? [];

/** Few letters, so that secrets overlap, touch, and begin one another. */
const letters = (minLength: number, maxLength: number) =>
  fc.array(fc.constantFrom('a', 'b', '\xff'), { minLength, maxLength }).map((all) => all.join(''));

test('every chunking gives what replacing all places at once gives', () => {
  const some = fc.array(letters(1, 6), { minLength: 1, maxLength: 5 });
  const cuts = fc.array(fc.nat(40)).map((all) => all.sort((one, other) => one - other));
  fc.assert(
    fc.property(some, letters(0, 40), cuts, fc.constantFrom(1, 3, 4096), (...given) => {
      const [secrets, text, ends, rows] = given;
      const wanted = replaced(text, secrets);
      for (let length = 1; length <= text.length; length++)
        expect(masked(inPieces(text, length), secrets, rows)).toBe(wanted);
      const pieces = [...ends, text.length].map((end, at) => text.slice(ends[at - 1] ?? 0, end));
      expect(masked(pieces, secrets, rows)).toBe(wanted);
    }),
    { numRuns: times(4000) },
  );
});

test('a text without a secret comes back as the same bytes', () => {
  const bytes = Buffer.from(Array.from({ length: 512 }, (_, at) => at % 256));
  const mask = streamMask(automatonOf(['hunter2']));
  expect(mask.push(bytes)).toEqual(bytes);
  expect(mask.holds).toBe(false);
});

/** A mask that takes and gives texts. */
function textMask(secrets: readonly string[]) {
  const mask = streamMask(automatonOf(secrets));
  const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();
  return {
    push: (piece: string) => text(mask.push(Buffer.from(piece))),
    release: () => text(mask.release()),
  };
}

describe('bytes that may begin a secret', () => {
  test('are held back, and no others', () => {
    const { push } = textMask(['hunter2', 'unteX']);
    const told = ['a', ' h', 'unte', 'r', 'x', 'hunter2', '.'].map(push);
    expect(told).toEqual(['a', ' ', '', '', 'hunterx', '***', '.']);
  });

  test('that were let go are the only ones of it that are seen', () => {
    const { push, release } = textMask(['hunter2', 'ter2secret']);
    expect(push('hun') + release()).toBe('hun');
    expect(push('ter2')).toBe('***');
    expect(push('sec') + release() + push('ret') + push('!')).toBe('sec***!');
  });

  test('of a secret in another one are part of its mask', () => {
    expect(masked(['xab', 'cd', 'efy'], ['abcdef', 'bcd'])).toBe('x***y');
    expect(masked(['xab', 'cd', 'eXy'], ['abcdef', 'bcd'])).toBe('xa***eXy');
    expect(masked(['aabb', 'b'], ['aa', 'bbb', 'bb'])).toBe('***');
  });
});

/** A stream, what was written, and its timer: `pass` lets the time go by. */
function stream(secrets: readonly string[], write?: () => Promise<void>) {
  const told: string[] = [];
  let timers: { readonly milliseconds: number; readonly work: () => void }[] = [];
  const timer: Timer = (milliseconds, work) => {
    const one = { milliseconds, work };
    timers.push(one);
    return () => {
      timers = timers.filter((other) => other !== one);
    };
  };
  const writeTo =
    write ?? (async (bytes: Uint8Array) => void told.push(Buffer.from(bytes).toString()));
  const { take, end } = maskedStream(automatonOf(secrets), writeTo, timer);
  return {
    ...{ told, end },
    take: (text: string) => take(Buffer.from(text)),
    waits: () => timers.map(({ milliseconds }) => milliseconds),
    pass: async () => {
      for (const { work } of timers.splice(0)) work();
      await Promise.resolve();
    },
  };
}

describe('time', () => {
  test('runs only while something is held back, and lets it go', async () => {
    const { told, take, waits, pass } = stream(['hunter2']);
    await take('Name: ');
    expect(waits()).toEqual([]);
    await take('h');
    expect([told, waits()]).toEqual([['Name: '], [100]]);
    await pass();
    expect([told, waits()]).toEqual([['Name: ', 'h'], []]);
    await take('unter');
    await take('2\n');
    expect([told, waits()]).toEqual([['Name: ', 'h', '***\n'], []]);
  });

  test('begins again with each piece, and ends with the stream', async () => {
    const { told, take, waits, end } = stream(['hunter2']);
    await take('hun');
    await take('ter');
    expect(waits()).toEqual([100]);
    await end();
    expect([told, waits()]).toEqual([['hunter'], []]);
  });

  test('does not make an error of a write that fails then; the next one does', async () => {
    const failing = async () => {
      throw Object.assign(new Error('write EPIPE'), { code: 'EPIPE' });
    };
    const { take, pass, end } = stream(['hunter2'], failing);
    await take('hun');
    await pass();
    await expect(take('x')).rejects.toMatchObject({ code: 'EPIPE' });
    await expect(end()).rejects.toMatchObject({ code: 'EPIPE' });
  });
});
