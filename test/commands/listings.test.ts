import { beforeEach, describe, expect, test } from 'vitest';
import type { AuditEntry } from '../../src/contract/decode';
import type { Transport } from '../../src/platform/context';
import { asking } from '../helpers/foreign';
import { eachInstance, type Instance, instance, overFetch } from '../helpers/instance';
import { call } from '../helpers/service';
import { json, wire } from '../helpers/wire';

// Listings of more than a page: of pushes, and the audit log in every form that instances may give it.

const numbered = (from: number, to: number) =>
  Array.from({ length: from - to + 1 }, (_, at) => `n${from - at}`);

describe('of 120 pushes', () => {
  const here = eachInstance();
  const list = async (...words: string[]) =>
    (await here.under({ env: here.admin }).run('list', ...words)).stdout;
  const names = (stdout: string) => stdout.split('\n').flatMap((line) => line.split('\t')[1] ?? []);
  beforeEach(async () => {
    for (let at = 0; at < 120; at++)
      await here.push({ payload: 'x', name: `n${at}` }, here.service.adminToken);
  });

  test('list has a page, a named one, all, or up to a limit', async () => {
    for (const [words, from, to] of [
      [[], 119, 70],
      [['--page', '2'], 69, 20],
      [['--page', '3'], 19, 0],
      [['--page', '4'], -1, 0],
      [['--all'], 119, 0],
      [['--limit', '60'], 119, 60],
    ] as const) {
      const rows: { name: string }[] = JSON.parse(await list(...words, '--json'));
      expect([words, names(await list(...words))]).toEqual([words, numbered(from, to)]);
      expect([words, rows.map(({ name }) => name)]).toEqual([words, numbered(from, to)]);
    }
  });

  test('a table has its titles once, and on a terminal it is said that there is more', async () => {
    const shown = here.under({
      env: { ...here.admin, NO_COLOR: '1' },
      terminals: ['stdout', 'stderr'],
    });
    const { stdout, stderr } = await shown.run('list');
    expect([stdout.split('\n').length, stderr.includes('--all')]).toEqual([52, true]);
    const all = await shown.run('list', '--all');
    expect([all.stdout.split('\n').length, all.stderr]).toEqual([122, '']);
    expect(all.stdout.match(/\bID\b/g)).toHaveLength(1);
  });

  test('show finds an active and an expired one on a later page', async () => {
    const owner = here.under({ env: here.admin });
    const token = (await list('--all')).match(/^(\S+)\tn0\t/m)?.[1] ?? '';
    expect((await owner.run('show', token)).stdout).toContain('\nstate\tactive\n');
    await owner.run('expire', token);
    expect((await owner.run('show', token)).stdout).toContain('\nstate\tdeleted\n');
  });
});

type Order = 'oldest first' | 'newest first';

/** The service, its audit log in pages of so many rows; it is read anew when the clock moved. */
function paged({ service }: Instance, order: Order, rows: number): Transport {
  let read = { at: 0, log: [] as AuditEntry[] };
  const wholeLog = async (path: string) => {
    const log: AuditEntry[] = [];
    for (let page = 1, more = true; more; page++) {
      const { logs } = (
        await call(service, 'GET', `${path}?page=${page}`, { token: service.adminToken })
      ).json;
      log.push(...logs);
      more = logs.length > 0;
    }
    return order === 'newest first' ? log.reverse() : log;
  };
  return async (request) => {
    const { pathname, searchParams } = new URL(request.url);
    if (!pathname.endsWith('/audit')) return overFetch(service)(request);
    const at = service.clock.now().getTime();
    if (read.at !== at) read = { at, log: await wholeLog(pathname) };
    const from = (Number(searchParams.get('page')) - 1) * rows;
    const logs = read.log.slice(from, from + rows);
    return wire([json(200, JSON.stringify({ logs }))]).send(request);
  };
}

/** A push with so many events, the last of them its owner's, each a second after the one before. */
async function setting(
  order: Order,
  rows: number,
  events: number,
  asleep = async (_nap: number) => {},
) {
  const here: Instance = await instance({
    send: (request) => log(request),
    asleep: async (milliseconds) => {
      here.service.clock.advance(milliseconds);
      if (here.sleeps.length > 20) throw new Error('it waits for ever');
      await asleep(here.sleeps.length);
    },
  });
  const log = paged(here, order, rows);
  const token = await here.push({ payload: 'x', expire_after_views: 100 }, here.service.adminToken);
  const look = async (by = {}) => {
    here.service.clock.advance(1000);
    await call(here.service, 'GET', `/api/v2/pushes/${token}`, by);
  };
  for (let event = 1; event < events; event++) await look({ token: here.service.adminToken });
  const owner = here.under({ env: here.admin });
  return { here, owner, token, look };
}

describe.each(['oldest first', 'newest first'] as const)('an audit log, %s', (order) => {
  test.each([50, 51])('of %i events: wait sees a view before and during it', async (events) => {
    const before = await setting(order, 50, events);
    await before.look();
    expect((await before.owner.run('wait', before.token)).stdout).toContain('\tview\t');
    expect(before.here.sleeps).toEqual([]);
    const during = await setting(order, 50, events, async (nap) => {
      if (nap === 2) await during.look();
    });
    const { code, stdout } = await during.owner.run('wait', during.token, '--then-expire');
    expect([code, stdout.split('\t')[1], during.here.sleeps]).toEqual([0, 'view', [5000, 5000]]);
    expect((await during.here.run('get', during.token)).code).toBe(6);
  });

  test.each([1, 7])('in pages of %i: wait tells each event once, oldest first', async (rows) => {
    const made = await setting(order, rows, 20, async (nap) => {
      if (nap === 3) await made.look();
    });
    const { stdout } = await made.owner.run('wait', made.token, '--json');
    const times = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).created_at);
    expect([times.length, times]).toEqual([21, [...new Set(times)].sort()]);
  });

  test('wait tells of an expiry that nobody saw', async () => {
    const made = await setting(order, 50, 60, async () => {
      await made.owner.run('expire', made.token);
    });
    expect((await made.owner.run('wait', made.token)).code).toBe(6);
  });

  test.each([7, 100])('in pages of %i: audit shows the newest first, 50 of them', async (rows) => {
    const { here, owner, token, look } = await setting(order, rows, 119);
    await look();
    const shown = async (...options: string[]): Promise<AuditEntry[]> =>
      JSON.parse((await owner.run('audit', token, '--json', ...options)).stdout);
    const all = await shown('--all');
    const times = all.map(({ created_at }) => `${created_at}`);
    expect([all.length, all[0]?.kind, all.at(-1)?.kind]).toEqual([120, 'view', 'creation']);
    expect(times).toEqual([...times].sort().reverse());
    const pages = [await shown(), await shown('--page', '3'), await shown('--page', '4')];
    expect(pages).toEqual([all.slice(0, 50), all.slice(100), []]);
    const seen = here.under({
      env: { ...here.admin, NO_COLOR: '1' },
      terminals: ['stdout', 'stderr'],
    });
    const { stdout, stderr } = await seen.run('audit', token);
    expect([stdout.split('\n')[1], stderr]).toEqual([
      expect.stringContaining('  view'),
      'showing 50; use --all for more\n',
    ]);
  });
});

const NOW = '2026-08-20T11:06:45.000Z';
const LATER = '2026-08-20T11:06:46.000Z';

test.each([
  ['equal times', ['creation', NOW], ['edit', NOW], ['view', LATER]],
  ['no time', ['creation', NOW], ['edit', null], ['view', LATER]],
])('events stay as they came with %s', async (_, ...events) => {
  const logs = events.map(([kind, created_at]) => ({ kind, created_at }));
  const pages = [{ logs }, { logs: [] }].map((page) => json(200, JSON.stringify(page)));
  const { stdout } = await asking(pages, ['audit', 'abc', '--json'], {
    env: { PWPUSH_TOKEN: 't' },
  });
  const kinds = JSON.parse(stdout).map(({ kind }: AuditEntry) => kind);
  expect(kinds).toEqual(['view', 'creation', 'edit']);
});
