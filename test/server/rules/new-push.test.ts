import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isWebAddress, validatePush } from '../../../src/server/rules/new-push';
import { Refusal } from '../../../src/server/service-errors';
import type { Bounds } from '../../../src/server/service-settings';
import { seed } from '../../helpers/seed';

const bounds: Bounds = {
  days: { min: 1, max: 90, default: 7 },
  views: { min: 1, max: 100, default: 5 },
};

function problems(input: object): unknown {
  try {
    validatePush(input, bounds);
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return error.fields;
    throw error;
  }
}

test('fills in what was left out or null', () => {
  const filled = {
    payload: 'x',
    kind: 'text',
    expire_after_days: 7,
    lifetime: 7 * 86_400,
    expire_after_views: 5,
    deletable_by_viewer: true,
    retrieval_step: true,
    passphrase: '',
    name: '',
    note: '',
  };
  expect(validatePush({ payload: 'x' }, bounds)).toEqual(filled);
  const nulls = Object.fromEntries(Object.keys(filled).map((key) => [key, null]));
  expect(validatePush({ ...nulls, files: [], payload: 'x' }, bounds)).toEqual(filled);
});

test.each([
  [
    { payload: 'x'.repeat(1_048_577) },
    { payload: ['Payload is too large (maximum is 1048576 bytes).'] },
  ],
  [
    { payload: 'é'.repeat(524_289) },
    { payload: ['Payload is too large (maximum is 1048576 bytes).'] },
  ],
  [{ payload: 'x'.repeat(1_048_576) }, undefined],
  [{ payload: '😀'.repeat(1024), kind: 'qr' }, undefined],
  [
    { payload: 'x'.repeat(1025), kind: 'qr' },
    { payload: ['Payload is too long (maximum is 1024 characters).'] },
  ],
  [{ payload: 'a\ud800b' }, { payload: ['Payload is not valid Unicode text.'] }],
  [{ payload: 'x', name: '😀'.repeat(255), note: 'n'.repeat(10_000) }, undefined],
  [
    { payload: 'x', name: 'n'.repeat(256), note: 'n'.repeat(10_001) },
    {
      name: ['Name is too long (maximum is 255 characters).'],
      note: ['Note is too long (maximum is 10000 characters).'],
    },
  ],
  [{ payload: 'x', name: 'a\0b' }, { name: ['Name must not contain a NUL character.'] }],
  [
    { payload: 'x', deletable_by_viewer: 'yes', retrieval_step: 1 },
    {
      deletable_by_viewer: ['Deletable by viewer must be true or false.'],
      retrieval_step: ['Retrieval step must be true or false.'],
    },
  ],
  [
    { payload: 'x', passphrase: 5, name: {} },
    { passphrase: ['Passphrase must be a string.'], name: ['Name must be a string.'] },
  ],
  [
    { payload: 'x', kind: 'file' },
    {
      files: [
        'Files are required. Files are sent as multipart/form-data, each in a part named push[files][].',
      ],
    },
  ],
])('case %#', (input, expected) => {
  expect(problems(input)).toEqual(expected);
});

describe('with files', () => {
  const read = (input: object) => validatePush(input, bounds, 2);

  test('the kind is file, and the payload a message that may be missing', () => {
    expect(read({})).toMatchObject({ kind: 'file', payload: '' });
    expect(read({ kind: 'file', payload: ' ' })).toMatchObject({ kind: 'file', payload: ' ' });
  });

  test('another kind is refused, and so is a message that is too large', () => {
    expect(() => read({ kind: 'text', payload: 'x' })).toThrow(
      expect.objectContaining({ fields: { kind: ['Kind must be file when there are files.'] } }),
    );
    expect(() => read({ payload: 'x'.repeat(1_048_577) })).toThrow(
      expect.objectContaining({
        fields: { payload: ['Payload is too large (maximum is 1048576 bytes).'] },
      }),
    );
  });
});

test('a number of days passes exactly when it is an integer within the bounds', () => {
  const value = fc.oneof(
    fc.integer(),
    fc.double(),
    fc.string(),
    fc.integer().map(String),
    fc.boolean(),
  );
  fc.assert(
    fc.property(value, (days) => {
      const plain = typeof days === 'number' || (typeof days === 'string' && /^\d+$/.test(days));
      const number = plain ? Number(days) : Number.NaN;
      const good = Number.isInteger(number) && number >= 1 && number <= 90;
      expect(problems({ payload: 'x', expire_after_days: days }) === undefined).toBe(good);
    }),
  );
});

describe('expiry in other units than days', () => {
  const expiry = (fields: object, within = bounds) => {
    const { expire_after_days, lifetime } = validatePush({ payload: 'x', ...fields }, within);
    return [lifetime, expire_after_days];
  };

  test('expires_in is in seconds, and days are rounded up', () => {
    expect(
      [60, 21_600, 86_400, '86401', 7_776_000].map((expires_in) => expiry({ expires_in })),
    ).toEqual([
      [60, 1],
      [21_600, 1],
      [86_400, 1],
      [86_401, 2],
      [7_776_000, 90],
    ]);
  });

  test('expire_after_duration is an index', () => {
    expect([0, '4', 6, 17].map((index) => expiry({ expire_after_duration: index }))).toEqual([
      [900, 1],
      [21_600, 1],
      [86_400, 1],
      [7_776_000, 90],
    ]);
  });

  test.each([
    [{ expires_in: 59 }, { expires_in: ['Expires in must be an integer from 60 to 259200.'] }],
    [{ expires_in: 259_201 }, { expires_in: ['Expires in must be an integer from 60 to 259200.'] }],
    [{ expires_in: 90.5 }, { expires_in: ['Expires in must be an integer from 60 to 259200.'] }],
    [
      { expire_after_duration: 9 },
      { expire_after_duration: ['Expire after duration must be an integer from 0 to 8.'] },
    ],
    [
      { expire_after_days: 1, expires_in: 60 },
      { expires_in: ['Give one of expire_after_days, expire_after_duration, expires_in.'] },
    ],
    [
      { expire_after_days: 1, expire_after_duration: 1 },
      {
        expire_after_duration: [
          'Give one of expire_after_days, expire_after_duration, expires_in.',
        ],
      },
    ],
  ])('%j is refused where 3 days are the most', (fields, expected) => {
    const within = { ...bounds, days: { min: 1, max: 3, default: 3 } };
    try {
      expiry(fields, within);
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({ fields: expected });
    }
  });
});

test('whatever is sent is taken or refused by field', () => {
  const near = (valid: unknown[], invalid: unknown[]) =>
    fc.oneof(
      { weight: 40, arbitrary: fc.constantFrom(...valid) },
      fc.constantFrom(...invalid),
      fc.anything(),
    );
  const fields = {
    payload: near(['x', 'https://a.test'], ['x'.repeat(1_048_577), '']),
    kind: near(['text', 'qr'], ['url', 'file', 'x']),
    name: near(['a'], ['a'.repeat(256)]),
    expire_after_days: near([1, 90], [0, 91]),
    expire_after_views: near([1, 100], [0, 101]),
    expire_after_duration: near([0, 8], [-1, 9]),
    expires_in: near([60], [59]),
    files: near([[]], [['a']]),
    x: fc.anything(),
  };
  let taken = 0;
  fc.assert(
    fc.property(fc.record(fields, { requiredKeys: ['payload'] }), (input) => {
      const said = problems(input);
      if (said === undefined) taken += 1;
      else
        for (const [field, words] of Object.entries(said as object))
          expect([field in fields, words]).toEqual([true, [expect.stringMatching(/\S/)]]);
    }),
    { seed, numRuns: 300 },
  );
  expect(taken).toBeGreaterThan(0);
});

test.each([
  ['https://example.com', true],
  ['HTTP://example.com:8080/a?b#c', true],
  ['javascript:alert(1)', false],
  ['//example.com', false],
  ['https:example.com', false],
  ['https://', false],
  ['https://example.com/\nx', false],
  ['https://example.com/\u202egpj.exe', false],
  ['https://exam\u200bple.com/', false],
  ['https://example.com/\u00e9', true],
  [' https://example.com', false],
  ['data:text/html,https://example.com', false],
])('%j is a web address: %s', (payload, expected) => {
  expect(isWebAddress(payload)).toBe(expected);
});
