import { describe, expect, test } from 'vitest';
import type { AuditEntry } from '../../src/contract/decode';
import type { Transport } from '../../src/platform/context';
import { BASE } from '../helpers/instance';
import { partOf } from '../helpers/long';
import { type Place, place } from '../helpers/run';
import { call, create, type TestService, testService } from '../helpers/service';
import { json } from '../helpers/wire';

// The audit log in every form that instances may give it: either order, pages of any length.

type Order = 'oldest first' | 'newest first';
const orders: readonly Order[] = ['oldest first', 'newest first'];

/** The embedded service, its audit log paged in that way; the last page and those after it are `end`. */
function paged(service: TestService, order: Order, rows: number): Transport {
  let read = { time: 0, log: [] as AuditEntry[] };
  /** Reads the log once for all pages, until the clock moves. */
  const wholeLog = async (path: string) => {
    const time = service.clock.now().getTime();
    if (time !== read.time) {
      const log = await readLog(service, path);
      read = { time, log: order === 'newest first' ? log.reverse() : log };
    }
    return read.log;
  };
  return async ({ method, url, headers }) => {
    const { pathname, searchParams } = new URL(url);
    const page = Number(searchParams.get('page'));
    if (!pathname.endsWith('/audit')) {
      const response = await service.fetch(new Request(url, { method, headers }));
      return answer(response.status, await response.text());
    }
    const log = await wholeLog(pathname);
    return answer(200, JSON.stringify({ logs: log.slice((page - 1) * rows, page * rows) }));
  };
}

/** Oldest first; the clock of these tests moves between any two events. */
async function readLog(service: TestService, path: string): Promise<AuditEntry[]> {
  const log: AuditEntry[] = [];
  for (let page = 1; ; page++) {
    const { json } = await call(service, 'GET', `${path}?page=${page}`, {
      token: service.adminToken,
    });
    if (json.logs.length === 0) break;
    log.push(...json.logs);
  }
  return log.sort((one, other) => String(one.created_at).localeCompare(String(other.created_at)));
}

function answer(status: number, body: string) {
  const { headers = {} } = json(status, body);
  const bytes = (async function* () {
    yield Buffer.from(body);
  })();
  return { status, headers, body: bytes };
}

interface Setting {
  readonly here: Place;
  readonly token: string;
  look(): Promise<unknown>;
}

/** A push with so many events, of which `looks` after the creation are its owner's. */
async function setting(
  order: Order,
  rows: number,
  events: number,
  asleep: (setting: Setting) => unknown = () => {},
): Promise<Setting & { close(): Promise<void> }> {
  const service = await testService();
  const ownerLooks = async () => {
    service.clock.advance(1000);
    await call(service, 'GET', `/api/v2/pushes/${token}`, { token: service.adminToken });
  };
  const token = await create(
    service,
    { payload: 'x', expire_after_views: 100 },
    service.adminToken,
  );
  for (let event = 1; event < events; event++) await ownerLooks();
  const here = place({
    send: paged(service, order, rows),
    now: service.clock.now,
    env: { PWPUSH_URL: BASE, PWPUSH_TOKEN: service.adminToken },
    asleep: async (milliseconds) => {
      service.clock.advance(milliseconds);
      if (here.sleeps.length > 20) throw new Error('it waits for ever');
      await asleep(made);
    },
  });
  const look = async () => {
    service.clock.advance(1000);
    await call(service, 'GET', `/api/v2/pushes/${token}`);
  };
  const close = async () => {
    here.close();
    await service.close();
  };
  const made = { here, token, look, close };
  return made;
}

describe.each(orders)('%s', (order) => {
  describe.each([50, 51, ...partOf([1, 49, 120], 0)])('%i events', (events) => {
    describe.each(['before', 'during'])('a view %s the wait', (when) => {
      test.each([[[]], [['--then-expire']]])('%j', async (options) => {
        const { here, token, look, close } = await setting(order, 50, events, ({ here, look }) =>
          when === 'during' && here.sleeps.length === 2 ? look() : undefined,
        );
        if (when === 'before') await look();
        const { code, stdout } = await here.run('wait', token, ...options);
        const after = await here.run('get', token);
        await close();
        expect({ code, kind: stdout.split('\t')[1], after: after.code }).toEqual({
          code: 0,
          kind: 'view',
          after: options.length > 0 ? 6 : 0,
        });
        expect(here.sleeps).toEqual(when === 'before' ? [] : [5000, 5000]);
      });
    });
  });

  test.each([1, 7, 50])('pages of %i: each event is told once, oldest first', async (rows) => {
    const { here, token, close } = await setting(order, rows, 20, ({ here, look }) =>
      here.sleeps.length === 3 ? look() : undefined,
    );
    const { stdout } = await here.run('wait', token, '--json');
    await close();
    const times = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).created_at);
    expect([times.length, times]).toEqual([21, [...new Set(times)].sort()]);
  });

  test.each([1, 50])('an expiry that nobody saw is told, pages of %i', async (rows) => {
    const { here, token, close } = await setting(order, rows, 60, ({ here, token }) =>
      here.run('expire', token),
    );
    const { code } = await here.run('wait', token);
    await close();
    expect(code).toBe(6);
  });

  test.each([7, 50, 100])('audit shows the newest first, pages of %i', async (rows) => {
    const { here, token, look, close } = await setting(order, rows, 119);
    await look();
    const shown = async (...options: string[]) =>
      JSON.parse((await here.run('audit', token, '--json', ...options)).stdout) as AuditEntry[];
    const all = await shown('--all');
    const first = await shown();
    const third = await shown('--page', '3');
    const ended = await shown('--page', '4');
    const seen = here.under({ env: { NO_COLOR: '1' }, terminals: ['stdout', 'stderr'] });
    const { stdout, stderr } = await seen.run('audit', token);
    await close();
    const times = all.map(({ created_at }) => created_at);
    expect([all.length, all[0]?.kind, all.at(-1)?.kind]).toEqual([120, 'view', 'creation']);
    expect(times).toEqual([...times].sort().reverse());
    expect([first, third, ended]).toEqual([all.slice(0, 50), all.slice(100), []]);
    expect(stdout.split('\n')[1]).toContain('  view');
    expect(stderr).toBe('showing 50; use --all for more\n');
  });
});

describe('events that a time does not tell apart', () => {
  const event = (kind: string, created_at?: string | null) => ({ kind, created_at });
  const asked = async (logs: object[]) => {
    const send: Transport = async ({ url }) =>
      answer(200, JSON.stringify({ logs: url.endsWith('page=1') ? logs : [] }));
    const here = place({ send, env: { PWPUSH_URL: BASE, PWPUSH_TOKEN: 't0ken' } });
    const { stdout } = await here.run('audit', 'abc', '--json');
    here.close();
    return (JSON.parse(stdout) as AuditEntry[]).map(({ kind }) => kind);
  };

  test('stay as they came', async () => {
    const now = '2026-08-20T11:06:45.000Z';
    const later = '2026-08-20T11:06:46.000Z';
    expect(await asked([event('creation', now), event('edit', now), event('view', later)])).toEqual(
      ['view', 'creation', 'edit'],
    );
  });

  test('and those without a time stay beside the one before', async () => {
    const later = '2026-08-20T11:06:46.000Z';
    const logs = [
      event('creation', '2026-08-20T11:06:45Z'),
      event('edit', null),
      event('view', later),
    ];
    expect(await asked(logs)).toEqual(['view', 'creation', 'edit']);
    expect(await asked([event('odd', 'yesterday'), event('creation', later)])).toEqual([
      'creation',
      'odd',
    ]);
  });
});

test('an instance that has the same page each time is not asked for ever', async () => {
  const logs = [
    { kind: 'view', created_at: '2026-08-20T11:06:46.000Z' },
    { kind: 'creation', created_at: '2026-08-20T11:06:45.000Z' },
  ];
  let asked = 0;
  const send: Transport = async () => {
    asked += 1;
    return answer(200, JSON.stringify({ logs }));
  };
  const here = place({ send, env: { PWPUSH_URL: BASE, PWPUSH_TOKEN: 't0ken' } });
  const { code, stdout } = await here.run('audit', 'abc', '--all', '--json');
  here.close();
  expect({ code, rows: JSON.parse(stdout).length, asked }).toEqual({ code: 0, rows: 2, asked: 2 });
});
