import { beforeEach, describe, expect, test } from 'vitest';
import type { AuditEntry } from '../../src/contract/decode';
import { answersTo } from '../helpers/answers';
import { eachInstance, type Instance, instance } from '../helpers/instance';
import { CREATED } from '../helpers/reference';
import { place } from '../helpers/run';
import { call } from '../helpers/service';

// Listings of more than a page: of pushes, and the audit log. In which forms instances may give it: test/client/pages.test.ts.

describe('of 120 pushes', () => {
  const here = eachInstance();
  beforeEach(async () => {
    for (let at = 0; at < 120; at++) await here.push({ payload: 'x', name: `n${at}` }, here.service.adminToken);
  });

  test('list has a page, all, or up to a limit: a table with its titles once, or an array', async () => {
    const seen = {
      env: { ...here.admin, NO_COLOR: '1' },
      terminals: ['stdout', 'stderr'],
    } as const;
    const list = (...words: string[]) => here.under(seen).run('list', ...words);
    for (const [words, length] of [
      [[], 50],
      [['--page', '3'], 20],
      [['--all'], 120],
      [['--limit', '60'], 60],
    ] as const) {
      const { stdout, stderr } = await list(...words);
      expect([stdout.split('\n').length, stdout.match(/\bID\b/g)?.length]).toEqual([length + 2, 1]);
      expect([words, stderr.includes('--all')]).toEqual([words, words.length === 0]);
      const rows: { name: string }[] = JSON.parse((await list(...words, '--json')).stdout);
      const first = words[0] === '--page' ? 19 : 119;
      expect(rows.map(({ name }) => name)).toEqual(rows.map((_, at) => `n${first - at}`));
      expect(rows).toHaveLength(length);
    }
  });

  test('preview finds an active and an expired one on a later page', async () => {
    const owner = here.under({ env: here.admin });
    const token = (await owner.run('list', '--all')).stdout.match(/^(\S+)\tn0\t/m)?.[1] ?? '';
    expect((await owner.run('preview', token)).stderr).toContain('\nstate\tactive\n');
    await owner.run('expire', token);
    expect((await owner.run('preview', token)).stderr).toContain('\nstate\tdeleted\n');
  });
});

test('what has one view left is in another colour on a terminal', async () => {
  const here = await instance();
  for (const [name, expire_after_views] of Object.entries({ soon: 1, later: 5 }))
    await here.push({ payload: 'x', name, expire_after_views }, here.service.adminToken);
  const env = { ...here.admin, TERM: 'xterm' };
  const { stdout } = await here.under({ env, terminals: ['stdout'] }).run('list');
  const coloured = stdout.split('\n').filter((line) => line.includes('\u001b[33m'));
  expect([stdout.includes('later'), coloured]).toEqual([true, [expect.stringContaining('soon')]]);
});

test('list --all says that there may be more than the API lists', async () => {
  const rows = (page: number) =>
    Array.from({ length: 50 }, (_, at) => ({
      ...JSON.parse(CREATED),
      url_token: `t${page}-${at}`,
    }));
  const pages = Array.from({ length: 200 }, (_, at) => [`GET /pushes/active?page=${at + 1}`, rows(at + 1)]);
  const { send } = answersTo(Object.fromEntries(pages));
  const env = { PWPUSH_URL: 'https://pw.test', PWPUSH_TOKEN: 't0ken' };
  const here = place({ send, env, terminals: ['stderr'] });
  expect((await here.run('list', '--all')).stderr).toMatch(/showing 10000\n$/);
});

describe('an audit log', () => {
  /** A push with so many events, the last of them its owner's, each a second after the one before. */
  async function setting(events: number, asleep = async (_nap: number) => {}) {
    const here: Instance = await instance({
      asleep: async (milliseconds) => {
        here.service.clock.advance(milliseconds);
        if (here.sleeps.length > 20) throw new Error('it waits for ever');
        await asleep(here.sleeps.length);
      },
    });
    const { adminToken, clock } = here.service;
    const token = await here.push({ payload: 'x', expire_after_views: 100 }, adminToken);
    const look = async (by = {}) => {
      clock.advance(1000);
      await call(here.service, 'GET', `/api/v2/pushes/${token}`, by);
    };
    // Readings of an owner from one program would share an entry.
    for (let event = 1; event < events; event++)
      await look({ token: adminToken, headers: { 'user-agent': `reader ${event}` } });
    const owner = here.under({ env: here.admin });
    return { here, owner, token, look };
  }

  test('of a page and more: wait sees a view before and during it, and tells each event once', async () => {
    const before = await setting(51);
    await before.look();
    expect((await before.owner.run('wait', before.token)).stdout).toContain('\tview\t');
    expect(before.here.sleeps).toEqual([]);
    const during = await setting(51, async (nap) => {
      if (nap === 2) await during.look();
    });
    const { stdout } = await during.owner.run('wait', during.token, '--then-expire', '--json');
    const events: AuditEntry[] = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const times = events.map(({ created_at }) => created_at);
    expect([times.length, times]).toEqual([52, [...new Set(times)].sort()]);
    expect([events.at(-1)?.kind, during.here.sleeps]).toEqual(['view', [5000, 5000]]);
    expect((await during.here.run('get', during.token)).code).toBe(6);
  });

  test('of three pages: audit shows the newest first, 50 of them', async () => {
    const { here, owner, token, look } = await setting(119);
    await look();
    const shown = async (...options: string[]): Promise<AuditEntry[]> =>
      JSON.parse((await owner.run('audit', token, '--json', ...options)).stdout);
    const all = await shown('--all');
    expect([all.length, all[0]?.kind, all.at(-1)?.kind]).toEqual([120, 'view', 'creation']);
    expect([await shown(), await shown('--page', '3')]).toEqual([all.slice(0, 50), all.slice(100)]);
    const seen = here.under({
      env: { ...here.admin, NO_COLOR: '1' },
      terminals: ['stdout', 'stderr'],
    });
    const { stdout, stderr } = await seen.run('audit', token);
    expect([stdout.split('\n')[1], stderr]).toEqual([
      expect.stringContaining('  view'),
      'showing 50 of 120; use --all for more\n',
    ]);
  });
});
