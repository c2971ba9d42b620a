import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Push } from '../../src/contract/decode';
import { differences } from '../../src/send/judge';

const push = (fields: object): Push => ({ url_token: 't', ...fields });

// How a difference is told: test/cases/push-limits-not-granted.txt.

describe('what was granted is compared with what was asked', () => {
  test('nothing asked, nothing different', () => {
    fc.assert(
      fc.property(fc.nat(), fc.boolean(), (number, flag) => {
        const granted = push({ expire_after_days: number, deletable_by_viewer: flag });
        expect(differences({}, granted)).toEqual([]);
      }),
    );
  });

  test('numbers: more is looser, fewer stricter, the same none', () => {
    const number = fc.integer({ min: 1, max: 100 });
    fc.assert(
      fc.property(number, number, (a, g) => {
        const requested = { expire_after_days: a, expire_after_views: g };
        const granted = push({ expire_after_days: g, expire_after_views: a });
        const found = [
          { limit: 'days', requested: a, granted: g, looser: g > a },
          { limit: 'views', requested: g, granted: a, looser: a > g },
        ];
        expect(differences(requested, granted)).toEqual(a === g ? [] : found);
      }),
    );
  });

  test.each([true, false])('flags: deletable is looser, and so is no step (%s)', (flag) => {
    const requested = { deletable_by_viewer: !flag, retrieval_step: flag };
    const other = { deletable_by_viewer: flag, retrieval_step: !flag };
    expect(differences(requested, push(other))).toEqual([
      { limit: 'deletable', requested: !flag, granted: flag, looser: flag },
      { limit: 'click', requested: flag, granted: !flag, looser: flag },
    ]);
    expect(differences(requested, push(requested))).toEqual([]);
  });

  test('what the answer leaves out or has as null is not compared', () => {
    const requested = { expire_after_days: 1, expire_after_views: 1, deletable_by_viewer: false };
    for (const granted of [{}, { expire_after_days: null, deletable_by_viewer: null }])
      expect(differences(requested, push(granted))).toEqual([]);
  });
});

describe('the commercial edition says how long in another way', () => {
  const looseness = (days: number, fields: object) =>
    differences({ expire_after_days: days }, push(fields)).map(({ granted, looser }) => ({
      granted,
      looser,
    }));

  // docs/wire.md, "Durations": 0–5 = 15, 30, 45 minutes, 1, 6, 12 hours; 6–11 = 1 … 6 days; 12–14 = 1, 2, 3 weeks;
  // 15–17 = 1, 2, 3 months.
  test('expire_after_duration is a number of days', () => {
    const durations = { 6: 1, 11: 6, 12: 7, 13: 14, 14: 21, 15: 30, 16: 60, 17: 90 };
    for (const [duration, days] of Object.entries(durations))
      expect(looseness(days, { expire_after_duration: Number(duration) })).toEqual([]);
    // Hours are stricter than a day.
    expect(looseness(1, { expire_after_duration: 5 })).toEqual([{ granted: 0.5, looser: false }]);
    expect(looseness(1, { expire_after_duration: 99 })).toEqual([]);
  });

  const created_at = '2026-08-20T11:06:45.000Z';

  test.each([
    // Days may be returned that were ignored.
    [1, '2026-08-27T11:06:45.000Z', [{ granted: 7, looser: true }]],
    [7, '2026-08-20T17:06:45.000Z', [{ granted: 0.25, looser: false }]],
    // It is compared to the minute.
    [1, '2026-08-21T11:06:45.900Z', []],
    [1, '2026-08-23T11:06:45.000Z', [{ granted: 3, looser: true }]],
    [1, 'soon', []],
  ])('expires_at decides: of %i days, %s', (days, expires_at, found) => {
    expect(looseness(days, { created_at, expires_at, expire_after_days: days })).toEqual(found);
  });

  test('without expires_at, expires_in does, in seconds', () => {
    expect([
      looseness(1, { created_at, expires_in: 604_800, expire_after_days: 1 }),
      looseness(1, { expires_in: 86_399, expire_after_duration: 12 }),
      looseness(1, { created_at, expires_at: '2026-08-21T11:06:45Z', expires_in: 3600 }),
      ...[0, -1, 86_400.5, '604800', null].map((expires_in) => looseness(1, { expires_in })),
    ]).toEqual([[{ granted: 7, looser: true }], ...Array(7).fill([])]);
  });

  test.each([
    [{ expires_in: 5400 }, '2026-08-20T12:36:45.000Z', undefined],
    // Up to a minute is taken for clocks that differ; what is almost a whole minute is one.
    [{ expires_in: 5400 }, '2026-08-20T12:37:42.000Z', undefined],
    [{ expires_in: 5400 }, '2026-08-20T12:37:43.000Z', true],
    [{ expires_in: 5400 }, '2026-08-20T12:35:48.000Z', undefined],
    [{ expires_in: 5400 }, '2026-08-20T12:35:47.000Z', false],
    [{ expire_after_duration: 4 }, '2026-08-20T17:06:45.000Z', undefined],
    [{ expire_after_duration: 4 }, '2026-08-20T18:06:45.000Z', true],
    // A calendar month, and a day of 25 hours.
    [{ expire_after_duration: 17 }, '2026-11-20T11:06:45.000Z', undefined],
    [{ expire_after_duration: 6 }, '2026-08-21T12:06:45.000Z', undefined],
    [{ expire_after_duration: 6 }, '2026-08-22T11:06:45.000Z', true],
    [{ expire_after_days: 30 }, '2026-09-20T11:06:45.000Z', true],
    [{ expire_after_duration: 15 }, '2026-09-12T11:06:45.000Z', false],
  ])('%j and %s', (requested, expires_at, looser) => {
    expect(differences(requested, push({ created_at, expires_at }))[0]?.looser).toBe(looser);
  });
});
