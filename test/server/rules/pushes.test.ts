import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AuditEntry } from '../../../src/contract/decode';
import { passphraseChecks } from '../../../src/server/keys/primitives';
import { times } from '../../helpers/long';
import { noted, viewsIn } from '../../helpers/noted';
import { call, create, type TestService, testClock, testService } from '../../helpers/service';
import { onEachStore } from '../../helpers/stores';

const DAY = 86_400_000;
const anybody = { ip: null, userAgent: null, referrer: null, owner: undefined };

onEachStore((store) => {
  let service: TestService;

  beforeEach(async () => {
    service = await testService((await store.room()).settings);
  });

  afterEach(() => service.close());

  const retrieve = async (token: string, passphrase?: string) => {
    const query = passphrase === undefined ? '' : `?passphrase=${passphrase}`;
    return (await call(service, 'GET', `/api/v2/pushes/${token}${query}`)).json;
  };

  const kinds = async (token: string) => {
    const { json } = await call(service, 'GET', `/api/v2/pushes/${token}/audit`, {
      token: service.adminToken,
    });
    return json.logs.flatMap(({ kind, count = 1 }: AuditEntry & { count?: number }) =>
      Array.from({ length: count }, () => kind),
    );
  };

  describe('views', () => {
    test('a push with three views is seen three times', async () => {
      const token = await create(
        service,
        { payload: 'x', expire_after_views: 3 },
        service.adminToken,
      );
      const seen = [];
      for (let i = 0; i < 5; i++) {
        const { payload, views_remaining, expired } = await retrieve(token);
        seen.push([payload, views_remaining, expired]);
      }
      expect(seen).toEqual([
        ['x', 2, false],
        ['x', 1, false],
        ['x', 0, false],
        [null, 0, true],
        [null, 0, true],
      ]);
      expect(await kinds(token)).toEqual([
        'creation',
        'view',
        'view',
        'view',
        'failed_view',
        'failed_view',
      ]);
    });

    test('of many simultaneous requests for one view exactly one gets the payload', async () => {
      const pushes = noted((_, ...how) => call(service, ...how));
      const token = await pushes.create({ expire_after_views: 1 });
      const answers = await pushes.atOnce(times(500), token);
      pushes.judge();
      expect(viewsIn(answers)).toBe(1);
    });

    test('with a passphrase, too', async () => {
      const pushes = noted((_, ...how) => call(service, ...how));
      const push = { expire_after_views: 1, passphrase: 'sesame' };
      const token = await pushes.create(push);
      const answers = await pushes.atOnce(8, token, { query: '?passphrase=sesame' });
      pushes.judge();
      expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
      expect(viewsIn(answers)).toBe(1);
    });

    test("the owner's look takes none, another owner's does", async () => {
      const token = await create(
        service,
        { payload: 'x', expire_after_views: 2 },
        service.adminToken,
      );
      const look = async (as: string) =>
        (await call(service, 'GET', `/api/v2/pushes/${token}`, { token: as })).json.views_remaining;
      expect(await look(service.adminToken)).toBe(2);
      expect(await look(service.otherToken)).toBe(1);
      expect(await look(service.adminToken)).toBe(1);
      expect(await kinds(token)).toEqual(['creation', 'owner_view', 'view', 'owner_view']);
    });

    test('a client that leaves before its turn takes none', async () => {
      const token = await create(service, { payload: 'x', expire_after_views: 1 });
      const client = new AbortController();
      const path = `/api/v2/pushes/${token}`;
      const answer = call(service, 'GET', path, { signal: client.signal });
      client.abort();
      expect((await answer).status).toBe(499);
      expect((await retrieve(token)).payload).toBe('x');
    });

    test('a push without an owner loses a view to everybody', async () => {
      const token = await create(service, { payload: 'x', expire_after_views: 2 });
      expect((await retrieve(token)).views_remaining).toBe(1);
    });
  });

  describe('time', () => {
    test('days begun count whole, and the push ends with the last', async () => {
      const push = { payload: 'x', expire_after_days: 2, expire_after_views: 9 };
      const token = await create(service, push, service.adminToken);
      const days = async (advance: number) => {
        service.clock.advance(advance);
        const { days_remaining, payload, expired, expired_on, deleted } = await retrieve(token);
        return { days_remaining, payload, expired, expired_on, deleted };
      };
      const alive = { payload: 'x', expired: false, expired_on: null, deleted: false };
      expect(await days(0)).toEqual({ days_remaining: 2, ...alive });
      expect(await days(1)).toEqual({ days_remaining: 2, ...alive });
      expect(await days(DAY - 1)).toEqual({ days_remaining: 1, ...alive });
      expect(await days(DAY - 1)).toEqual({ days_remaining: 1, ...alive });
      const gone = {
        payload: null,
        expired: true,
        expired_on: '2026-08-22T11:06:45.000Z',
        deleted: false,
      };
      expect(await days(1)).toEqual({ days_remaining: 0, ...gone });
      expect(await days(5 * DAY)).toEqual({ days_remaining: 0, ...gone });
    });

    test('a push ends to the second', async () => {
      const made = await call(service, 'POST', '/api/v2/pushes', {
        body: { push: { payload: 'x', expires_in: 5400, expire_after_views: 9 } },
      });
      expect(made.json).toMatchObject({
        created_at: '2026-08-20T11:06:45.000Z',
        expires_at: '2026-08-20T12:36:45.000Z',
        expire_after_days: 1,
        days_remaining: 1,
      });
      const { url_token: token } = made.json;
      service.clock.advance(5_399_999);
      expect(await retrieve(token)).toMatchObject({ payload: 'x', expired: false });
      service.clock.advance(1);
      expect(await retrieve(token)).toMatchObject({
        payload: null,
        expired: true,
        expired_on: '2026-08-20T12:36:45.000Z',
      });
    });

    test('what has run out is listed as expired before the sweep, and the same after it', async () => {
      await create(service, { payload: 'x', expire_after_days: 1, note: 'n' }, service.adminToken);
      const kept = await create(service, { payload: 'y' }, service.adminToken);
      service.clock.advance(DAY);
      const list = async (state: string) =>
        (await call(service, 'GET', `/api/v2/pushes/${state}`, { token: service.adminToken })).json;
      const before = await list('expired');
      expect(before).toMatchObject([
        { expired: true, expired_on: '2026-08-21T11:06:45.000Z', deleted: false, note: '' },
      ]);
      expect(await service.service.housekeeping.sweep()).toBe(1);
      expect(await list('expired')).toEqual(before);
      expect(await list('active')).toMatchObject([{ url_token: kept }]);
      expect(await service.service.housekeeping.sweep()).toBe(0);
    });

    test('a sweep takes more than one batch', async () => {
      const pushes = Array.from({ length: 205 }, () =>
        create(service, { payload: 'x', expire_after_days: 1 }),
      );
      await Promise.all(pushes);
      service.clock.advance(DAY);
      expect(await service.service.housekeeping.sweep()).toBe(205);
    });

    test.each([
      ['what was found expired is not shown after all when the clock steps back', 0, DAY],
      ['what is found active and over when its view is claimed is not shown', DAY, -1],
    ])('%s', async (_, passed, ahead) => {
      await service.close();
      const clock = testClock();
      let looks = 0;
      const now = () => new Date(clock.now().getTime() + (looks-- > 0 ? ahead : 0));
      service = await testService({ ...(await store.room()).settings, clock: { ...clock, now } });
      const token = await create(service, { payload: 'x', expire_after_days: 1 });
      clock.advance(passed);
      // Once, when it is found; then it is claimed.
      looks = 1;
      expect(
        (
          await service.service.pushes.retrieve({
            urlToken: token,
            visitor: anybody,
            passphrase: '',
          })
        ).text,
      ).toBeNull();
      expect(await retrieve(token)).toMatchObject({ payload: null, expired: true });
    });

    test('deleting what has run out leaves it as it ended', async () => {
      const token = await create(service, { payload: 'x', expire_after_days: 1 });
      service.clock.advance(2 * DAY);
      const { json } = await call(service, 'DELETE', `/api/v2/pushes/${token}`);
      expect([json.expired, json.deleted, json.expired_on]).toEqual([
        true,
        false,
        '2026-08-21T11:06:45.000Z',
      ]);
    });
  });

  describe('failures', () => {
    const look = (token: string, agent: string, query = '?passphrase=wrong') =>
      call(service, 'GET', `/api/v2/pushes/${token}${query}`, { headers: { 'user-agent': agent } });
    const logs = async (token: string) =>
      (await call(service, 'GET', `/api/v2/pushes/${token}/audit`, { token: service.adminToken }))
        .json.logs;

    test('of one kind and place are one entry, with their number and their first and last time', async () => {
      const push = { payload: 'x', passphrase: 'p', expire_after_days: 1 };
      const token = await create(service, push, service.adminToken);
      for (const agent of ['one', 'one', 'two', 'one']) {
        service.clock.advance(1000);
        await look(token, agent);
      }
      service.clock.advance(DAY);
      await look(token, 'one');
      const entries = (await logs(token)).map(
        ({ kind, user_agent, count, created_at, updated_at }: Record<string, unknown>) => [
          kind,
          user_agent,
          count,
          `${created_at}`.slice(11, 19),
          `${updated_at}`.slice(11, 19),
        ],
      );
      expect(entries).toEqual([
        ['creation', '', undefined, '11:06:45', '11:06:45'],
        ['failed_passphrase', 'one', 3, '11:06:46', '11:06:49'],
        ['failed_passphrase', 'two', undefined, '11:06:48', '11:06:48'],
        ['failed_view', 'one', undefined, '11:06:49', '11:06:49'],
      ]);
    });

    test('have a limited number of entries, and views and ends are always kept', async () => {
      await service.close();
      service = await testService({ ...(await store.room()).settings, maxFailures: 20 });
      const push = { payload: 'x', passphrase: 'p' };
      const token = await create(service, push, service.adminToken);
      for (let i = 0; i < 30; i += 1) await look(token, `agent ${i}`, '');
      await call(service, 'GET', `/api/v2/pushes/${token}?passphrase=p`);
      await call(service, 'DELETE', `/api/v2/pushes/${token}`);
      for (let i = 0; i < 5; i += 1) await look(token, `late ${i}`);
      const all = (await logs(token)) as { kind: string; user_agent: string; count?: number }[];
      const unnamed = all.filter(({ kind, user_agent }) => /^failed/.test(kind) && !user_agent);
      expect(unnamed.map(({ kind, count }) => [kind, count])).toEqual([
        ['failed_passphrase', 0],
        ['failed_view', 5],
      ]);
      expect(all.filter(({ kind }) => /^failed/.test(kind))).toHaveLength(22);
      expect(all.filter(({ kind }) => !/^failed/.test(kind)).map(({ kind }) => kind)).toEqual([
        'creation',
        'view',
        'expire',
      ]);
    });
  });

  describe('passphrases', () => {
    test('wrong and missing ones are kept in the audit log and take no view', async () => {
      const push = { payload: 'x', passphrase: ' pass word ', expire_after_views: 1 };
      const token = await create(service, push, service.adminToken);
      await retrieve(token);
      await retrieve(token, 'pass');
      await retrieve(token, 'pass');
      expect((await retrieve(token, '%20pass+word%20')).payload).toBe('x');
      expect((await retrieve(token)).expired).toBe(true);
      const log = await call(service, 'GET', `/api/v2/pushes/${token}/audit`, {
        token: service.adminToken,
      });
      const counted = log.json.logs.map((one: { kind: string; count?: number }) => [
        one.kind,
        one.count,
      ]);
      expect(counted).toEqual([
        ['creation', undefined],
        ['failed_passphrase', 2],
        ['view', undefined],
        ['failed_view', undefined],
      ]);
    });

    test('right ones that come together are no tries, wrong ones are', async () => {
      const push = { payload: 'x', passphrase: 'right', expire_after_views: 50 };
      const token = await create(service, push);
      const together = (passphrase: string) => {
        const path = `/api/v2/pushes/${token}?passphrase=${passphrase}`;
        return Promise.all(Array.from({ length: 8 }, () => call(service, 'GET', path)));
      };
      const right = await together('right');
      expect(right.map(({ json }) => json.payload)).toEqual(Array(8).fill('x'));
      const statuses = (await together('wrong')).map(({ status }) => status);
      expect(statuses.sort()).toEqual([401, 401, 401, 401, 401, 429, 429, 429]);
    });

    test('a try whose client has left costs neither a view nor a try', async () => {
      const push = { payload: 'x', passphrase: 'right', expire_after_views: 1 };
      const token = await create(service, push);
      const gone = Array.from({ length: 6 }, async () => {
        const client = new AbortController();
        const path = `/api/v2/pushes/${token}?passphrase=right`;
        const answer = call(service, 'GET', path, { signal: client.signal });
        client.abort();
        return (await answer).status;
      });
      expect(await Promise.all(gone)).toEqual(Array(6).fill(499));
      expect((await retrieve(token, 'right')).payload).toBe('x');
    });

    test('a try that was counted before its client left, unchecked, counts no more', async () => {
      const token = await create(service, { payload: 'x', passphrase: 'right' });
      // Leaves when its turn among the checks for all pushes comes.
      const signal = {
        get aborted() {
          return passphraseChecks().running > 0;
        },
      };
      for (let i = 0; i < 6; i++)
        await expect(
          service.service.pushes.retrieve({
            urlToken: token,
            visitor: { ...anybody, signal },
            passphrase: 'wrong',
          }),
        ).rejects.toMatchObject({ kind: 'abandoned' });
      expect((await retrieve(token, 'right')).payload).toBe('x');
    });

    test('tries from a clock that was a day ahead lock nothing', async () => {
      const token = await create(service, { payload: 'x', passphrase: 'right' });
      service.clock.advance(DAY);
      for (let i = 0; i < 5; i++) await retrieve(token, 'wrong');
      expect((await retrieve(token, 'right')).error).toMatch(/^Too many/);
      service.clock.advance(-DAY);
      expect((await retrieve(token, 'right')).payload).toBe('x');
      await service.service.housekeeping.sweep();
      service.clock.advance(DAY);
      expect((await retrieve(token, 'right')).payload).toBe('x');
    });

    test('the owner needs it, too', async () => {
      const token = await create(service, { payload: 'x', passphrase: 'p' }, service.adminToken);
      const answer = await call(service, 'GET', `/api/v2/pushes/${token}`, {
        token: service.adminToken,
      });
      expect(answer.status).toBe(401);
    });

    test('wrong ones of others do not keep the owner out, nor those of the owner others', async () => {
      const token = await create(service, { payload: 'x', passphrase: 'p' }, service.adminToken);
      const owner = async (passphrase: string) =>
        (
          await call(service, 'GET', `/api/v2/pushes/${token}?passphrase=${passphrase}`, {
            token: service.adminToken,
          })
        ).status;
      for (let i = 0; i < 5; i++) await retrieve(token, 'wrong');
      expect((await retrieve(token, 'p')).error).toMatch(/^Too many/);
      expect(await owner('p')).toBe(200);
      service.clock.advance(60_000);
      for (let i = 0; i < 5; i++) expect(await owner('wrong')).toBe(401);
      expect(await owner('p')).toBe(429);
      expect((await retrieve(token, 'p')).payload).toBe('x');
    });
  });

  describe('listings', () => {
    test('50 a page, newest first', async () => {
      for (let i = 0; i < 52; i++)
        await create(service, { payload: 'x', name: `${i}` }, service.adminToken);
      const names = async (page: number) => {
        const path = `/api/v2/pushes/active?page=${page}`;
        const { json } = await call(service, 'GET', path, { token: service.adminToken });
        return json.map((push: { name: string }) => push.name);
      };
      expect(await names(1)).toEqual(Array.from({ length: 50 }, (_, i) => `${51 - i}`));
      expect(await names(2)).toEqual(['1', '0']);
      expect(await names(3)).toEqual([]);
    });

    test('the note of a push with a passphrase is read without it', async () => {
      const push = { payload: 'x', passphrase: 'p', note: 'for the auditors' };
      await create(service, push, service.adminToken);
      const { json } = await call(service, 'GET', '/api/v2/pushes/active', {
        token: service.adminToken,
      });
      expect(json).toMatchObject([{ note: 'for the auditors', passphrase: null }]);
    });

    test('the audit log is paged, oldest first', async () => {
      const token = await create(
        service,
        { payload: 'x', expire_after_views: 100 },
        service.adminToken,
      );
      for (let i = 0; i < 59; i++) await retrieve(token);
      await call(service, 'DELETE', `/api/v2/pushes/${token}`);
      const path = `/api/v2/pushes/${token}/audit?page=2`;
      const { json } = await call(service, 'GET', path, { token: service.adminToken });
      expect([json.logs.length, json.logs.at(-1).kind]).toEqual([11, 'expire']);
    });
  });

  test('nobody but its owner ends a url push', async () => {
    const push = { payload: 'https://example.com', kind: 'url', deletable_by_viewer: true };
    const token = await create(service, push, service.adminToken);
    expect((await call(service, 'DELETE', `/api/v2/pushes/${token}`)).status).toBe(403);
    const ended = await call(service, 'DELETE', `/api/v2/pushes/${token}`, {
      token: service.adminToken,
    });
    expect([ended.status, ended.json.deleted]).toEqual([200, true]);
  });
});
