import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  apply,
  type Call,
  History,
  isLinearizable,
  matches,
  NOTHING,
  type Operation,
  type Result,
} from './helpers/history';
import { times } from './helpers/long';
import { seed } from './helpers/seed';

/** A client, when it asked and was answered (`null`: never), what, and the answer. */
type Row = [string, number, number | null, Call, Result?];

const history = (...rows: Row[]) =>
  rows.map(([client, start, end, call, result]): Operation => {
    const asked = { client, push: 'p', call, start };
    return end === null || !result ? asked : { ...asked, end, result };
  });

const create = (views: number, key?: string): Row => [
  ...(['sender', 1, 2] as const),
  { name: 'create', views, payload: 'x', ...(key ? { key } : {}) },
  { status: 'made' },
];
const retrieve: Call = { name: 'retrieve' };
const withKey = (key: string): Call => ({ name: 'retrieve', key });
const expire: Call = { name: 'expire' };
const shown = (left?: number): Result => ({
  status: 'shown',
  payload: 'x',
  ...(left === undefined ? {} : { left }),
});
const gone: Result = { status: 'gone' };
const done: Result = { status: 'done' };

test.each<[string, ...Row[]]>([
  ['one view', create(1), ['a', 3, 4, retrieve, shown(0)], ['b', 5, 6, retrieve, gone]],
  ['at once', create(1), ['a', 3, 6, retrieve, gone], ['b', 4, 5, retrieve, shown(0)]],
  ['in another order', create(2), ['a', 3, 6, retrieve, shown(0)], ['b', 4, 5, retrieve, shown(1)]],
  [
    'a lost response that took it',
    create(1),
    ['a', 3, null, retrieve],
    ['b', 5, 6, retrieve, gone],
  ],
  ['one that did not', create(1), ['a', 3, null, retrieve], ['b', 5, 6, retrieve, shown()]],
  [
    'one that does so late',
    create(2),
    ['a', 3, null, retrieve],
    ['b', 5, 6, retrieve, shown(1)],
    ['b', 7, 8, retrieve, gone],
  ],
  [
    'before it is there',
    ['a', 1, 2, retrieve, { status: 'missing' }],
    ['s', 3, 4, create(1)[3], { status: 'made' }],
  ],
  [
    'expired meanwhile',
    create(9),
    ['a', 3, 8, retrieve, gone],
    ['s', 4, 7, expire, { ...done, left: 8, deleted: true }],
    ['b', 5, 6, retrieve, shown(8)],
  ],
  [
    'an expiry that was not answered',
    create(9),
    ['s', 3, null, expire],
    ['a', 4, 5, retrieve, shown()],
    ['a', 6, 7, retrieve, gone],
  ],
  [
    'the end of its time',
    create(9),
    ['clock', 3, 6, { name: 'time' }, done],
    ['a', 4, 5, retrieve, shown()],
    ['a', 7, 8, retrieve, gone],
  ],
  [
    'a repeat',
    create(1),
    ['a', 3, null, withKey('k')],
    ['a', 4, 5, withKey('k'), shown(0)],
    ['a', 6, 7, withKey('k'), shown(0)],
  ],
  [
    'a repeat after others',
    create(3),
    ['a', 3, 4, withKey('k'), shown(2)],
    ['b', 5, 6, retrieve, shown(1)],
    ['a', 7, 8, withKey('k'), shown(2)],
  ],
  [
    'a repeat too late',
    create(1),
    ['a', 3, 4, withKey('k'), shown(0)],
    ['clock', 5, 6, { name: 'forget' }, done],
    ['a', 7, 8, withKey('k'), gone],
  ],
  [
    'a repeat of an expired one',
    create(2),
    ['a', 3, 4, withKey('k'), shown(1)],
    ['s', 5, 6, expire, done],
    ['a', 7, 8, withKey('k'), gone],
  ],
  ['a creation twice', create(1, 'k'), ['s', 3, 4, create(1, 'k')[3], { status: 'made' }]],
  [
    "the owner's look",
    create(1),
    ['s', 3, 4, { name: 'look' }, shown(1)],
    ['a', 5, 6, retrieve, shown(0)],
  ],
])('good: %s', (_, ...rows) => {
  expect(isLinearizable(history(...rows))).toBe(true);
});

const bad: [string, string[], ...Row[]][] = [
  [
    'two readers',
    ['a', 'b'],
    create(1),
    ['a', 3, 5, retrieve, shown()],
    ['b', 4, 6, retrieve, shown()],
  ],
  [
    'of one view of many',
    ['a', 'b'],
    create(9),
    ['c', 3, 4, retrieve, shown()],
    ['a', 5, 7, retrieve, shown(7)],
    ['b', 6, 8, retrieve, shown(7)],
  ],
  ['gone by itself', ['a'], create(1), ['a', 3, 4, retrieve, gone]],
  [
    'a lost update',
    ['b', 'a'],
    create(3),
    ['b', 3, 4, retrieve, shown(2)],
    ['a', 5, 6, retrieve, shown(2)],
  ],
  [
    'shown after it was gone',
    ['a', 'b'],
    create(1),
    ['c', 3, null, retrieve],
    ['a', 4, 5, retrieve, gone],
    ['b', 6, 7, retrieve, shown()],
  ],
  [
    'after it was expired',
    ['s', 'b'],
    create(9),
    ['s', 3, 4, expire, done],
    ['b', 5, 6, retrieve, shown()],
  ],
  [
    'after its time',
    ['clock', 'b'],
    create(9),
    ['clock', 3, 4, { name: 'time' }, done],
    ['b', 5, 6, retrieve, shown()],
  ],
  ['lost after it was created', ['b'], create(9), ['b', 3, 4, retrieve, { status: 'missing' }]],
  ['garbled', ['b'], create(9), ['b', 3, 4, retrieve, { status: 'shown', payload: 'y' }]],
  [
    'a repeat that takes another',
    ['a'],
    create(3),
    ['a', 3, 4, withKey('k'), shown(2)],
    ['a', 5, 6, withKey('k'), shown(1)],
  ],
  [
    'a repeat that gets nothing',
    ['a'],
    create(1),
    ['a', 3, 4, withKey('k'), shown(0)],
    ['a', 5, 6, withKey('k'), gone],
  ],
  [
    'the view of another key',
    ['a', 'b'],
    create(1),
    ['a', 3, 4, withKey('k'), shown(0)],
    ['b', 5, 6, withKey('l'), shown(0)],
  ],
];
test.each(bad)('bad: %s', (_, clients, ...rows) => {
  const noted = new History();
  noted.operations.push(...history(...rows));
  try {
    noted.judge();
  } catch (error) {
    const said = (error as Error).message.split('\n').slice(1);
    expect(said.map((one) => /\d (\w+):/.exec(one)?.[1])).toEqual(['sender', ...clients]);
    return;
  }
  expect.unreachable();
});

test('a key that has created two pushes', () => {
  const noted = new History();
  const [first, second] = [history(create(1, 'k')), history(create(1, 'k'))].flat();
  noted.operations.push(first as Operation, { ...(second as Operation), push: 'q' });
  expect(() => noted.judge()).toThrow('one key created two pushes');
});

test('a thousand operations at once are judged', () => {
  const all = Array.from({ length: 1000 }, (_, n): Row => {
    const call = [`c${n}`, 3 + n, 5000 - n, retrieve] as const;
    if (n < 45) return [...call, shown(49 - n)];
    return n < 50 ? [`c${n}`, 3 + n, null, retrieve] : [...call, gone];
  });
  expect(isLinearizable(history(create(50), ...all))).toBe(true);
  const twice: Row = ['twice', 3, 6000, retrieve, shown(20)];
  expect(isLinearizable(history(create(50), ...all, twice))).toBe(false);
});

/** The same by trying every order, with none left out. */
function hasOrder(left: readonly Operation[], state = NOTHING): boolean {
  if (left.every(({ result }) => !result)) return true;
  return left.some((one) => {
    if (left.some(({ end = Infinity }) => end < one.start)) return false;
    const [next, due] = apply(state, one.call);
    const rest = left.filter((other) => other !== one);
    return (!one.result || matches(one.result, due)) && hasOrder(rest, next);
  });
}

test('the checker says of any history what all of its orders say', () => {
  const key = fc.constantFrom('k', 'l');
  const call = fc.oneof<fc.Arbitrary<Call>[]>(
    fc.record({ name: fc.constant('retrieve' as const), key }, { requiredKeys: ['name'] }),
    fc.record({ name: fc.constantFrom('look', 'expire', 'time', 'forget') }),
  );
  const calls = fc.array(fc.record({ call, length: fc.nat(6), gap: fc.nat(2), lost: fc.nat(4) }), {
    maxLength: 6,
  });
  const made = fc.tuple(fc.integer({ min: 1, max: 3 }), calls, fc.option(fc.nat(5)));
  const judged = { true: 0, false: 0 };
  const judge = ([views, asked, wrong]: typeof made extends fc.Arbitrary<infer T> ? T : never) => {
    let [state] = apply(NOTHING, create(views)[3]);
    let time = 3;
    // Answered in one order, some from a state too late: most of these are bad.
    const stale = state;
    const rows = asked.map(({ call, length, gap, lost }, nth): Row => {
      time += gap;
      const [next, due] = apply(nth === wrong ? stale : state, call);
      if (nth !== wrong) state = next;
      return [`c${nth}`, time - (length >> 1), lost === 0 ? null : time + length, call, due];
    });
    const operations = history(create(views), ...rows);
    const good = isLinearizable(operations);
    judged[`${good}`] += 1;
    expect(good).toBe(hasOrder(operations));
  };
  fc.assert(fc.property(made, judge), { numRuns: times(8000), seed });
  expect(Math.min(judged.true, judged.false)).toBeGreaterThan(times(8000) / 50);
});
