import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { automatonOf } from '../../src/run/automaton';
import { maskedStream, streamMask, type Timer } from '../../src/run/mask';
import { formsOf } from '../../src/run/secret-forms';
import { times } from '../helpers/long';

/** The text with each place that is part of a secret replaced, found one by one. */
function replaced(text: string, secrets: readonly string[]): string {
  const secret = Array.from(text, () => false);
  for (const one of secrets)
    for (let at = text.indexOf(one); at >= 0; at = text.indexOf(one, at + 1)) secret.fill(true, at, at + one.length);
  return Array.from(text, (sign, at) => {
    if (!secret[at]) return sign;
    return secret[at - 1] ? '' : '***';
  }).join('');
}

function masked(chunks: readonly string[], secrets: readonly string[], rows?: number): string {
  const mask = streamMask(automatonOf(secrets, rows));
  const told = chunks.map((chunk) => mask.push(Buffer.from(chunk, 'latin1')));
  return Buffer.concat([...told, mask.end()]).toString('latin1');
}

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
  expect(mask.holdsFew()).toBe(false);
  expect(mask.end()).toHaveLength(0);
});

const hex = (byte: number, length = 2) => byte.toString(16).padStart(length, '0');
const bytes = (sign: string, written: (byte: number) => string) => Array.from(Buffer.from(sign), written).join('');
const units = (sign: string) =>
  sign
    .split('')
    .map((unit) => `\\u${hex(unit.charCodeAt(0), 4)}`)
    .join('');
const code = (sign: string) => sign.codePointAt(0) ?? 0;
const bare = (sign: string, ...but: string[]) => (but.includes(sign) ? [] : [sign]);
const doubled =
  (...signs: string[]) =>
  (sign: string) => [signs.includes(sign) ? sign + sign : sign];
const names: Record<string, string> = {
  '&': 'amp',
  '<': 'lt',
  '>': 'gt',
  '"': 'quot',
  "'": 'apos',
  ü: 'uuml',
  é: 'eacute',
  '€': 'euro',
  '\u00a0': 'nbsp',
};

/** All that a character may be written as, by those that write it. */
const written: Record<string, (sign: string) => string[]> = {
  'strings of JSON and languages, as it is or by Unicode': (sign) => [
    ...bare(sign, '\\'),
    ...[units(sign), units(sign).toUpperCase().replaceAll('\\U', '\\u'), `\\U${hex(code(sign), 8)}`],
    ...[`\\u{${hex(code(sign), 1)}}`, /[^\x80-\uffff\w]/.test(sign) ? `\\${sign}` : units(sign)],
    sign === '\n' ? '\\n' : `\\x{${hex(code(sign), 1)}}`,
  ],
  'strings of languages, by bytes': (sign) => [
    ...[bytes(sign, (byte) => `\\x${hex(byte)}`), bytes(sign, (byte) => `\\x${hex(byte).toUpperCase()}`)],
    bytes(sign, (byte) => `\\${byte.toString(8).padStart(3, '0')}`),
  ],
  'ascii of Python': (sign) =>
    code(sign) < 0x80 ? [sign.replace('\\', '\\\\')] : [code(sign) < 0x100 ? `\\x${hex(code(sign))}` : units(sign)],
  'escape of JavaScript': (sign) => [
    ...(code(sign) < 0x80 ? bare(sign, '%') : []),
    code(sign) < 0x100 ? `%${hex(code(sign))}` : units(sign).replaceAll('\\u', '%u'),
  ],
  'printf %q': (sign) => [...bare(sign, '\\'), `\\${sign}`],
  'single quotes of shells': (sign) => (sign === "'" ? ["'\\''", `'"'"'`] : [sign]),
  URLs: (sign) => [
    ...bare(sign, '%'),
    ...[bytes(sign, (byte) => `%${hex(byte)}`), bytes(sign, (byte) => `%${hex(byte).toUpperCase()}`)],
  ],
  forms: (sign) => [
    ...(sign === ' ' ? ['+'] : bare(sign, '%', '+')),
    bytes(sign, (byte) => `%${hex(byte).toUpperCase()}`),
  ],
  HTML: (sign) => [
    ...[...bare(sign, '&'), `&#${code(sign)};`, `&#x${hex(code(sign))};`, `&#X00${hex(code(sign))};`],
    ...(names[sign] ? [`&${names[sign]};`] : []),
  ],
  'quotes in SQL and YAML': doubled("'"),
  'quotes in CSV': doubled('"'),
  'dollar signs in compose files': doubled('$'),
  'percent signs in printf': doubled('%'),
  'dollar and percent signs in systemd': doubled('$', '%'),
};

describe('each character is found in each of its spellings:', () => {
  const sign = fc.constantFrom(...Array.from('abnrtx019u\\\'"/&<>%+ #;{}$\nüé€\u00a0😀'));
  const text = fc.array(sign, { minLength: 4, maxLength: 12 }).map((all) => all.join(''));

  const ways = Object.entries(written).flatMap(([name, spell]) => [
    [name, spell, 1] as const,
    [`${name}, applied to its own output`, spell, 2] as const,
  ]);
  test.each(ways)('%s', (_, spell, levels) => {
    const chosen = fc.infiniteStream(fc.nat(9));
    fc.assert(
      fc.property(text, chosen, fc.integer({ min: 1, max: 9 }), (secret, choice, length) => {
        fc.pre(secret.trim().length >= 4);
        const spellOnce = (plain: string) =>
          Array.from(plain, (sign) => {
            const choices = spell(sign);
            return choices[(choice.next().value ?? 0) % choices.length];
          }).join('');
        let spelled = secret;
        for (let level = 0; level < levels; level++) spelled = spellOnce(spelled);
        const { patterns } = formsOf([{ name: 'A', text: secret }]);
        const output = Buffer.from(`~${spelled}~`).toString('latin1');
        const lineEnds = /(?:[\r\n]+~)?$/.exec(`~${spelled}~`)?.[0] || '~';
        expect(masked(inPieces(output, length), [...patterns])).toBe(`~***${lineEnds}`);
      }),
      { numRuns: times(300) },
    );
  });

  test('what is not one of them is left as it is', () => {
    const text = "a\\ %zz %2 & &x; &#x; &#1114112; &nothing; don't '\\x '\"x\" \\u12 \\u{ \\x{zz} \\x \\ud800 %u12 %";
    for (let length = 1; length <= text.length; length++)
      expect(masked(inPieces(text, length), ['hunter2'])).toBe(text);
  });
});

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

  test('in an escape, where the one before it was open, are not forgotten', () => {
    expect(masked(['%uD83D%', '25ab%25', '!'], ['%ab%'])).toBe('%uD83D***!');
  });

  test('of a secret in another one are part of its mask', () => {
    expect(masked(['xab', 'cd', 'efy'], ['abcdef', 'bcd'])).toBe('x***y');
    expect(masked(['xab', 'cd', 'eXy'], ['abcdef', 'bcd'])).toBe('xa***eXy');
    expect(masked(['aabb', 'b'], ['aa', 'bbb', 'bb'])).toBe('***');
  });
});

/** A stream, what was written, and its timer: `pass` lets the time go by. */
function stream(secrets: readonly string[], isTerminal = true, write?: () => Promise<void>) {
  const told: string[] = [];
  let timers: { readonly milliseconds: number; readonly work: () => void }[] = [];
  const timer: Timer = (milliseconds, work) => {
    const one = { milliseconds, work };
    timers.push(one);
    return () => {
      timers = timers.filter((other) => other !== one);
    };
  };
  const writeTo = write ?? (async (bytes: Uint8Array) => void told.push(Buffer.from(bytes).toString()));
  const { take, end } = maskedStream(automatonOf(secrets), writeTo, isTerminal, timer);
  return {
    told,
    end,
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
    await take('h');
    await take('un');
    expect(waits()).toEqual([100]);
    await end();
    expect([told, waits()]).toEqual([['hun'], []]);
  });

  test.each([
    ['of more than three characters', true, ['hunt']],
    ['of an escape in which it goes on', true, ['hun', '\\u007', '4']],
    ['where nobody waits', false, ['h']],
  ])('lets no beginning go %s', async (_, isTerminal, pieces) => {
    const { told, take, waits, pass, end } = stream(['hunter2'], isTerminal);
    for (const piece of pieces) await take(piece);
    expect(waits()).toEqual([]);
    await take('hunter2'.slice(pieces.length > 1 ? 4 : pieces[0]?.length));
    expect(told).toEqual(['***']);
    await pass();
    await end();
    expect(told).toEqual(['***']);
  });

  test('does not make an error of a write that fails then; the next one does', async () => {
    const failing = async () => {
      throw Object.assign(new Error('write EPIPE'), { code: 'EPIPE' });
    };
    const { take, pass, end } = stream(['hunter2'], true, failing);
    await take('hun');
    await pass();
    await expect(take('x')).rejects.toMatchObject({ code: 'EPIPE' });
    await expect(end()).rejects.toMatchObject({ code: 'EPIPE' });
  });
});
