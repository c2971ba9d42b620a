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

const SHOWN: Result = { status: 'shown', payload: 'x' };
const RESULTS: Readonly<Record<string, Result>> = {
  shown: SHOWN,
  garbled: { ...SHOWN, payload: 'y' },
  gone: { status: 'gone' },
  made: { status: 'made' },
  missing: { status: 'missing' },
  done: { status: 'done' },
  deleted: { status: 'done', left: 8, deleted: true },
};
const shown = (left: number): Result => ({ ...SHOWN, left });

/** A client, when it asked and was answered (`null`: never), what, and the answer. */
type Row = readonly [string, number, number | null, Call, Result?];

const operation = ([client, start, end, call, result]: Row): Operation => {
  const asked = { client, push: 'p', call, start };
  return end === null || !result ? asked : { ...asked, end, result };
};

/** The same in a line: `a 3-4 retrieve:KEY 0`, with the views that are left, or the name of a result. */
function read(line: string): Operation {
  const [client = '', span = '', asked = '', said = ''] = line.split(' ');
  const [start, end] = span.split('-');
  const [name, key] = asked.split(':');
  const call = { name, ...(key && { key }) } as Call;
  const result = RESULTS[said] ?? shown(Number(said));
  return operation([client, Number(start), end ? Number(end) : null, call, result]);
}

const create = (views: number, key?: string): Row => [
  ...(['sender', 1, 2] as const),
  { name: 'create', views, payload: 'x', ...(key ? { key } : {}) },
  { status: 'made' },
];
/** A push with so many views, and what was done to it. */
const created = (views: number, lines: string) => [operation(create(views)), ...lines.split(', ').map(read)];
/** Without the one that makes the push. */
const later = ([, start, end, ...how]: Row): Row => ['s', start + 2, (end ?? 0) + 2, ...how];

test.each<[string, number, string]>([
  ['in another order', 2, 'a 3-6 retrieve 0, b 4-5 retrieve 1'],
  ['a lost response that took it', 1, 'a 3- retrieve, b 5-6 retrieve gone'],
  ['expired meanwhile', 9, 'a 3-8 retrieve gone, s 4-7 expire deleted, b 5-6 retrieve 8'],
  ['the end of its time', 9, 'c 3-6 time done, a 4-5 retrieve shown, a 7-8 retrieve gone'],
  ['a repeat after others', 3, 'a 3-4 retrieve:k 2, b 5-6 retrieve 1, a 7-8 retrieve:k 2'],
  ['a repeat too late', 1, 'a 3-4 retrieve:k 0, c 5-6 forget done, a 7-8 retrieve:k gone'],
  ["the owner's look", 1, 's 3-4 look 1, a 5-6 retrieve 0'],
])('good: %s', (_, views, lines) => {
  expect(isLinearizable(created(views, lines))).toBe(true);
});

test.each<[string, string, number, string]>([
  ['two readers', 'a b', 1, 'a 3-5 retrieve shown, b 4-6 retrieve shown'],
  ['gone by itself', 'a', 1, 'a 3-4 retrieve gone'],
  ['a lost update', 'b a', 3, 'b 3-4 retrieve 2, a 5-6 retrieve 2'],
  ['after it was expired', 's b', 9, 's 3-4 expire done, b 5-6 retrieve shown'],
  ['lost after it was created', 'b', 9, 'b 3-4 retrieve missing'],
  ['garbled', 'b', 9, 'b 3-4 retrieve garbled'],
  ['a repeat that takes another', 'a', 3, 'a 3-4 retrieve:k 2, a 5-6 retrieve:k 1'],
  ['a repeat that gets nothing', 'a', 1, 'a 3-4 retrieve:k 0, a 5-6 retrieve:k gone'],
])('bad: %s', (_, clients, views, lines) => {
  const noted = new History();
  noted.operations.push(...created(views, lines));
  try {
    noted.judge();
  } catch (error) {
    const said = (error as Error).message.split('\n').slice(1);
    expect(said.map((one) => /\d (\w+):/.exec(one)?.[1]).join(' ')).toBe(`sender ${clients}`);
    return;
  }
  expect.unreachable();
});

test('a key creates one push, however often it is sent', () => {
  const [first, again] = [create(1, 'k'), later(create(1, 'k'))].map(operation);
  expect(isLinearizable([first, again] as Operation[])).toBe(true);
  const noted = new History();
  noted.operations.push(first as Operation, { ...(first as Operation), push: 'q' });
  expect(() => noted.judge()).toThrow('one key created two pushes');
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
    const operations = [create(views), ...rows].map(operation);
    const good = isLinearizable(operations);
    judged[`${good}`] += 1;
    expect(good).toBe(hasOrder(operations));
  };
  fc.assert(fc.property(made, judge), { numRuns: times(8000), seed });
  expect(Math.min(judged.true, judged.false)).toBeGreaterThan(times(8000) / 50);
});
