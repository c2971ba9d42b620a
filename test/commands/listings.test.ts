import { beforeEach, describe, expect, test } from 'vitest';
import type { AuditEntry } from '../../src/contract/decode';
import { eachInstance, type Instance, instance } from '../helpers/instance';
import { call } from '../helpers/service';

// Listings of more than a page: of pushes, and the audit log. In which forms instances may give it: test/client/audit-log.test.ts.

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
    for (let event = 1; event < events; event++) await look({ token: adminToken });
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

  test('of a page and more: wait tells of an expiry that nobody saw', async () => {
    const made = await setting(60, async () => {
      await made.owner.run('expire', made.token);
    });
    expect((await made.owner.run('wait', made.token)).code).toBe(6);
  });

  test('of three pages: audit shows the newest first, 50 of them', async () => {
    const { here, owner, token, look } = await setting(119);
    await look();
    const shown = async (...options: string[]): Promise<AuditEntry[]> =>
      JSON.parse((await owner.run('audit', token, '--json', ...options)).stdout);
    const all = await shown('--all');
    expect([all.length, all[0]?.kind, all.at(-1)?.kind]).toEqual([120, 'view', 'creation']);
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
