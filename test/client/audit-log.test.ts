import { describe, expect, test } from 'vitest';
import { readAuditLog } from '../../src/client/audit-log';
import type { AuditEntry } from '../../src/contract/decode';

// An audit log in every form that instances may give it: either order, pages of any length.

const event = (kind: string, created_at?: string | null) => ({ kind, created_at }) as AuditEntry;
const log = Array.from({ length: 119 }, (_, at) =>
  event(`event ${at}`, new Date(Date.UTC(2026, 7, 20) + at * 1000).toISOString()),
);
const paged = (events: readonly AuditEntry[], rows: number) => ({
  audit: async (page: number) => events.slice((page - 1) * rows, page * rows),
});

describe.each([
  ['oldest first', log],
  ['newest first', log.toReversed()],
])('%s', (_order, given) => {
  test.each([1, 7, 49, 50, 51, 119, 120])(
    'in pages of %i it is read whole and sorted',
    async (rows) => {
      expect(await readAuditLog(paged(given, rows), 'oldest')).toEqual(log);
      expect(await readAuditLog(paged(given, rows), 'newest')).toEqual(log.toReversed());
    },
  );
});

const NOW = '2026-08-20T11:06:45.000Z';
const LATER = '2026-08-20T11:06:46.000Z';

test.each([
  ['of one time stay as they came', [NOW, NOW, LATER], 'cab'],
  ['without a time stay after the one before', [NOW, null, LATER], 'cab'],
  ['without a time at first are the oldest', ['yesterday', LATER], 'ba'],
])('events %s', async (_what, times, kinds) => {
  const events = times.map((time, at) => event('abc'[at] ?? '', time));
  const read = await readAuditLog(paged(events, 50), 'newest');
  expect(read.map(({ kind }) => kind).join('')).toBe(kinds);
});
