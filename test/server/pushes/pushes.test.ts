import { beforeEach, describe, expect, test } from 'vitest';
import { newKeyPair, parseRecipient } from '../../../src/age/key-files';
import { passphraseChecks } from '../../../src/server/keys/primitives';
import { encryptText } from '../../helpers/age';
import { deferred } from '../../helpers/deferred';
import { type Answer, type Call, opened, type TestService, testClock } from '../../helpers/service';
import { onEachStore, type Room } from '../../helpers/stores';

const DAY = 86_400_000;
const anybody = { ip: null, userAgent: null, referrer: null, owner: undefined };

onEachStore((store) => {
  let service: TestService;

  let settings: Room['settings'];

  beforeEach(async () => {
    ({ settings } = await store.room());
    service = await opened(settings);
  });

  const own = (push: object) => service.createOwn({ payload: 'x', ...push });
  const withPassphrase = (token: string, passphrase?: string, how?: Call) =>
    service.retrieve(passphrase === undefined ? token : `${token}?passphrase=${passphrase}`, how);
  const retrieve = async (token: string, passphrase?: string) => (await withPassphrase(token, passphrase)).json;

  describe('views', () => {
    test('a push with three views is seen three times', async () => {
      const token = await own({ expire_after_views: 3 });
      const seen = [];
      for (let i = 0; i < 5; i++) {
        const { payload, views_remaining, expired } = await retrieve(token);
        seen.push([payload, views_remaining, expired]);
      }
      const gone = [null, 0, true];
      expect(seen).toEqual([...[2, 1, 0].map((left) => ['x', left, false]), gone, gone]);
      expect(await service.kindsOf(token)).toEqual([...['creation', 'view', 'view', 'view', 'failed_view 2']]);
    });

    test("the owner's look takes none, another owner's does", async () => {
      const token = await own({ expire_after_views: 2 });
      const look = async (how: Call) => (await service.retrieve(token, how)).json.views_remaining;
      const { asAdmin, asOther } = service;
      const left = [await look(asAdmin), await look(asOther), await look(asAdmin)];
      expect(left).toEqual([2, 1, 1]);
      expect(await service.kindsOf(token)).toEqual([...['creation', 'owner_view 2', 'view']]);
    });

    test('of a push to public keys, a reader who says to have no private key takes none', async () => {
      const payload = await encryptText('hunter2', [parseRecipient(newKeyPair().recipient)]);
      const token = await own({ payload, expire_after_views: 1 });
      const headers = { 'x-age-identity': 'none' };
      for (const how of [{ headers }, { ...service.asAdmin, headers }]) {
        const { status, json } = await service.retrieve(token, how);
        expect([status, json.error]).toEqual([412, 'identity_needed']);
      }
      expect(await service.kindsOf(token)).toEqual(['creation']);
      expect((await retrieve(token)).payload).toBe(payload);
      expect((await service.retrieve(token, { headers })).json.expired).toBe(true);
      const clear = await own({ expire_after_views: 1 });
      expect((await service.retrieve(clear, { headers })).json.payload).toBe('x');
    });

    test('a client that leaves before its turn takes none', async () => {
      const token = await service.create({ payload: 'x', expire_after_views: 1 });
      const client = new AbortController();
      const answer = service.retrieve(token, { signal: client.signal });
      client.abort();
      expect((await answer).status).toBe(499);
      expect((await retrieve(token)).payload).toBe('x');
    });
  });

  describe('time', () => {
    test('days begun count whole, and the push ends with the last', async () => {
      const token = await own({ expire_after_days: 2, expire_after_views: 9 });
      const days = async (advance: number) => {
        service.clock.advance(advance);
        const { days_remaining, payload, expired, expired_on, deleted } = await retrieve(token);
        return [days_remaining, payload, expired, expired_on, deleted];
      };
      const alive = ['x', false, null, false];
      const gone = [null, true, '2026-08-22T11:06:45.000Z', false];
      expect(await days(0)).toEqual([2, ...alive]);
      expect(await days(1)).toEqual([2, ...alive]);
      expect(await days(DAY - 1)).toEqual([1, ...alive]);
      expect(await days(DAY - 1)).toEqual([1, ...alive]);
      expect(await days(1)).toEqual([0, ...gone]);
      expect(await days(5 * DAY)).toEqual([0, ...gone]);
    });

    test('a push ends to the second', async () => {
      const body = { push: { payload: 'x', expires_in: 5400, expire_after_views: 9 } };
      const { json } = await service.call('POST', '/api/v2/pushes', { body });
      const end = '2026-08-20T12:36:45.000Z';
      expect(json).toMatchObject({
        created_at: '2026-08-20T11:06:45.000Z',
        expires_at: end,
        expire_after_days: 1,
        days_remaining: 1,
      });
      service.clock.advance(5_399_999);
      expect(await retrieve(json.url_token)).toMatchObject({ payload: 'x', expired: false });
      service.clock.advance(1);
      expect(await retrieve(json.url_token)).toMatchObject({ payload: null, expired: true, expired_on: end });
    });

    test('what has run out is listed as expired before the sweep, and the same after it and a deletion', async () => {
      const token = await own({ expire_after_days: 1, note: 'n' });
      const kept = await own({});
      service.clock.advance(DAY);
      const before = await service.list('expired');
      expect(before).toMatchObject([
        { expired: true, expired_on: '2026-08-21T11:06:45.000Z', deleted: false, note: '' },
      ]);
      expect(await service.service.housekeeping.sweep()).toBe(1);
      expect(await service.list('expired')).toEqual(before);
      expect(await service.list('active')).toMatchObject([{ url_token: kept }]);
      expect(await service.service.housekeeping.sweep()).toBe(0);
      await service.expire(token);
      expect(await service.list('expired')).toEqual(before);
    });

    test.each([
      ['what was found expired is not shown after all when the clock steps back', 0, DAY],
      ['what is found active and over when its view is claimed is not shown', DAY, -1],
    ])('%s', async (_, passed, ahead) => {
      const clock = testClock();
      let looks = 0;
      const now = () => new Date(clock.now().getTime() + (looks-- > 0 ? ahead : 0));
      service = await opened({ ...settings, clock: { ...clock, now } });
      const token = await service.create({ payload: 'x', expire_after_days: 1 });
      clock.advance(passed);
      looks = 1;
      const how = { urlToken: token, visitor: anybody, passphrase: '' };
      expect((await service.service.pushes.retrieve(how)).text).toBeNull();
      expect(await retrieve(token)).toMatchObject({ payload: null, expired: true });
    });
  });

  describe('failures', () => {
    const look = (token: string, agent: string, passphrase?: string) =>
      withPassphrase(token, passphrase, { headers: { 'user-agent': agent } });

    test('of one kind and place are one entry, with their number and their first and last time', async () => {
      const token = await own({ passphrase: 'p', expire_after_days: 1 });
      const long = 'x'.repeat(1024);
      for (const agent of ['one', 'one', `${long}y`, 'one']) {
        service.clock.advance(1000);
        await look(token, agent, 'wrong');
      }
      service.clock.advance(DAY);
      await look(token, 'one', 'wrong');
      const time = (at: unknown) => `${at}`.slice(14, 19);
      const log = await service.logOf(token);
      const entries = log.map((one) => [
        one.kind,
        one.user_agent,
        one.count,
        time(one.created_at),
        time(one.updated_at),
      ]);
      expect(entries).toEqual([
        ['creation', '', undefined, '06:45', '06:45'],
        ['failed_passphrase', 'one', 3, '06:46', '06:49'],
        ['failed_passphrase', long, undefined, '06:48', '06:48'],
        ['failed_view', 'one', undefined, '06:49', '06:49'],
      ]);
    });

    test('have a limited number of entries, and views and ends are always kept', async () => {
      service = await opened({ ...settings, maxFailures: 20 });
      const token = await own({ passphrase: 'p' });
      for (let i = 0; i < 30; i += 1) await look(token, `agent ${i}`);
      await retrieve(token, 'p');
      await service.expire(`${token}?passphrase=p`);
      for (let i = 0; i < 5; i += 1) await look(token, `late ${i}`, 'wrong');
      const all = await service.logOf(token);
      const failed = all.filter(({ kind }) => /^failed/.test(kind));
      const unnamed = failed.filter(({ user_agent }) => !user_agent);
      expect(unnamed.map(({ kind, count }) => [kind, count])).toEqual([
        ['failed_passphrase', 0],
        ['failed_view', 5],
      ]);
      expect(failed).toHaveLength(22);
      const others = all.filter((one) => !failed.includes(one)).map(({ kind }) => kind);
      expect(others).toEqual(['creation', 'view', 'expire']);
    });
  });

  describe('passphrases', () => {
    test('wrong and missing ones are kept in the audit log and take no view', async () => {
      const token = await own({ passphrase: ' pass word ', expire_after_views: 1 });
      for (const wrong of [undefined, 'pass', 'pass']) await retrieve(token, wrong);
      expect((await retrieve(token, '%20pass+word%20')).payload).toBe('x');
      expect((await retrieve(token)).expired).toBe(true);
      expect(await service.kindsOf(token)).toEqual([...['creation', 'failed_passphrase 2', 'view', 'failed_view']]);
    });

    test.each([
      ['caf\u00e9', 'cafe%CC%81'],
      ['cafe\u0301', 'caf%C3%A9'],
    ])('%j is the same in other code points', async (passphrase, given) => {
      const token = await own({ passphrase });
      expect((await retrieve(token, given)).payload).toBe('x');
    });

    test('right ones that come together are no tries, wrong ones are, at two services', async () => {
      const token = await own({ passphrase: 'right', expire_after_views: 50 });
      const both = [service, await opened({ ...settings, clock: service.clock })];
      const together = (passphrase: string) => {
        const one = (at: number) => both[at % 2]?.retrieve(`${token}?passphrase=${passphrase}`);
        return Promise.all(Array.from({ length: 8 }, async (_, at) => (await one(at)) as Answer));
      };
      const right = await together('right');
      expect(right.map(({ json }) => json.payload)).toEqual(Array(8).fill('x'));
      const statuses = (await together('wrong')).map(({ status }) => status);
      expect(statuses.sort()).toEqual([401, 401, 401, 401, 401, 429, 429, 429]);
    });

    test('a try whose client has left costs neither a view nor a try', async () => {
      const token = await own({ passphrase: 'right', expire_after_views: 1 });
      const gone = Array.from({ length: 6 }, async () => {
        const client = new AbortController();
        const answer = withPassphrase(token, 'right', { signal: client.signal });
        client.abort();
        return (await answer).status;
      });
      expect(await Promise.all(gone)).toEqual(Array(6).fill(499));
      expect((await retrieve(token, 'right')).payload).toBe('x');
    });

    test('a try that was counted before its client left, unchecked, counts no more', async () => {
      const token = await service.create({ payload: 'x', passphrase: 'right' });
      // Leaves when its turn among the checks for all pushes comes.
      const signal = {
        get aborted() {
          return passphraseChecks().running > 0;
        },
      };
      const how = { urlToken: token, visitor: { ...anybody, signal }, passphrase: 'wrong' };
      const abandoned = { kind: 'abandoned' };
      for (let i = 0; i < 6; i++) await expect(service.service.pushes.retrieve(how)).rejects.toMatchObject(abandoned);
      expect((await retrieve(token, 'right')).payload).toBe('x');
    });

    test('tries from a clock that was a day ahead lock nothing', async () => {
      const token = await service.create({ payload: 'x', passphrase: 'right' });
      service.clock.advance(DAY);
      for (let i = 0; i < 5; i++) await retrieve(token, 'wrong');
      expect((await retrieve(token, 'right')).error).toMatch(/^Too many/);
      service.clock.advance(-DAY);
      expect((await retrieve(token, 'right')).payload).toBe('x');
      await service.service.housekeeping.sweep();
      service.clock.advance(DAY);
      expect((await retrieve(token, 'right')).payload).toBe('x');
    });

    test('five wrong ones are five, though before each a push ends whose own is being checked', async () => {
      const passphraseCost = { N: 2 ** 14, r: 8, p: 4 };
      const slow = await opened({ ...settings, clock: service.clock, passphraseCost });
      const token = await own({ passphrase: 'right' });
      const statuses = [];
      for (let i = 0; i < 6; i++) {
        const decoy = await slow.create({ payload: 'x', passphrase: 'known' }, slow.otherToken);
        const begun = deferred<void>();
        const signal = {
          get aborted() {
            if (passphraseChecks().running > 0) begun.resolve();
            return false;
          },
        };
        const how = { urlToken: decoy, visitor: { ...anybody, signal }, passphrase: 'known' };
        const checked = slow.service.pushes.retrieve(how);
        await begun.promise;
        await slow.expire(decoy, slow.asOther);
        statuses.push((await withPassphrase(token, 'wrong')).status);
        await checked;
      }
      expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
    });

    test('wrong ones of others do not keep the owner out, nor those of the owner others', async () => {
      const token = await own({ passphrase: 'p' });
      const owner = async (passphrase: string) => (await withPassphrase(token, passphrase, service.asAdmin)).status;
      for (let i = 0; i < 5; i++) await retrieve(token, 'wrong');
      expect((await retrieve(token, 'p')).error).toMatch(/^Too many/);
      expect(await owner('p')).toBe(200);
      expect((await service.retrieve(token, service.asAdmin)).status).toBe(401);
      service.clock.advance(60_000);
      for (let i = 0; i < 5; i++) expect(await owner('wrong')).toBe(401);
      expect(await owner('p')).toBe(429);
      expect((await retrieve(token, 'p')).payload).toBe('x');
    });
  });

  test('listings 50 a page, newest first', async () => {
    for (let i = 0; i < 52; i++) await own({ name: `${i}` });
    const names = async (page: number) =>
      (await service.list(`active?page=${page}`)).map((push: { name: string }) => push.name);
    expect(await names(1)).toEqual(Array.from({ length: 50 }, (_, i) => `${51 - i}`));
    expect([await names(2), await names(3)]).toEqual([['1', '0'], []]);
  });

  test('nobody but its owner ends a url push', async () => {
    const url = { payload: 'https://example.com', kind: 'url', deletable_by_viewer: true };
    const token = await own(url);
    expect((await service.expire(token)).status).toBe(403);
    const { status, json } = await service.expire(token, service.asAdmin);
    expect([status, json.deleted]).toEqual([200, true]);
  });
});
