import { beforeEach, expect, test } from 'vitest';
import { PASSPHRASE_COST } from '../../../src/server/keys/primitives';
import { openService } from '../../../src/server/open-service';
import { proven } from '../../helpers/age';
import { times } from '../../helpers/long';
import { noted, untilServed, viewsIn } from '../../helpers/noted';
import { type Answer, at, call, defaults, opened, type TestService } from '../../helpers/service';
import { onEachStore } from '../../helpers/stores';

const MINUTE = 60_000;
const keyed = proven('x').then(({ proof, payload }) => ({ key_proof: proof, payload }));
const DAY = 86_400_000;

onEachStore((store) => {
  /** Two that share their data, as two processes would. */
  let services: TestService[];
  const one = () => services[0] as TestService;
  let pushes: ReturnType<typeof noted<Answer>>;

  beforeEach(async () => {
    const { settings } = await store.room();
    // Long enough for others to wait.
    const passphraseCost = { ...PASSPHRASE_COST, p: 1 };
    const first = await opened({ ...settings, passphraseCost });
    services = [first, await opened({ ...settings, passphraseCost, clock: first.clock })];
    pushes = noted((client, ...how) => call(services[client % 2] as TestService, ...how));
  });

  const preview = (token: string) => one().call('GET', at(token, '/preview'));
  const statusesOf = (answers: Answer[]) => [...new Set(answers.map(({ status }) => status))].sort();

  async function viewsOf(token: string): Promise<number> {
    let views = 0;
    for (let page = 1; ; page++) {
      const { json } = await one().call('GET', at(token, `/audit?page=${page}`), one().asAdmin);
      views += json.logs.filter(({ kind }: { kind: string }) => kind === 'view').length;
      if (json.logs.length === 0) return views;
    }
  }

  const createOwn = (push: { expire_after_views: number; [field: string]: unknown }) =>
    pushes.create(push, one().asAdmin);

  test('of many simultaneous requests for ten views exactly ten get the payload', async () => {
    const token = await createOwn({ expire_after_views: 10 });
    const answers = await pushes.atOnce(times(500), token);
    pushes.judge();
    expect([viewsIn(answers), await viewsOf(token)]).toEqual([10, 10]);
  });

  test('with a passphrase, too: whom nobody can check now is told so, and takes nothing', async () => {
    // One is checked and 32 wait, until most of them go away: each check takes some processor time.
    const token = await createOwn({ expire_after_views: 2, passphrase: 'p' });
    const leaving = new AbortController();
    const calls = Array.from({ length: 40 }, async (_, index) => {
      const signal = index % 4 === 0 ? {} : { signal: leaving.signal };
      const answer = await pushes.retrieve(index, token, { query: '?passphrase=p', ...signal });
      if (answer.status === 503) leaving.abort();
      return answer;
    });
    const answers = await Promise.all(calls);
    pushes.judge();
    expect([viewsIn(answers), await viewsOf(token)]).toEqual([2, 2]);
    expect(statusesOf(answers)).toEqual([200, 499, 503]);
  });

  test('views and the end of the days: none is shown that is not counted, none after the sweep', async () => {
    const token = await createOwn({ expire_after_views: 100, expire_after_days: 1 });
    const during = pushes.atOnce(90, token);
    await preview(token);
    one().clock.advance(DAY);
    pushes.over(token, 'time');
    const sweeps = services.map(({ service }) => service.housekeeping.sweep());
    const late = pushes.atOnce(90, token);
    expect((await Promise.all(sweeps)).reduce((all, ended) => all + ended)).toBeLessThanOrEqual(1);
    await Promise.all([during, late, pushes.atOnce(10, token)]);
    pushes.judge();
    expect(viewsIn(await during)).toBe(await viewsOf(token));
  });

  test('repetitions and the end of their two minutes: each gets its view again, or one more', async () => {
    const token = await createOwn({ expire_after_views: 100 });
    const wave = () =>
      Promise.all(
        Array.from({ length: 40 }, (_, n) => untilServed(() => pushes.retrieve(n, token, { key: `${token}-${n}` }))),
      );
    await wave();
    const during = wave();
    await preview(token);
    one().clock.advance(2 * MINUTE);
    pushes.over(token, 'forget');
    await Promise.all([during, wave(), services[0]?.service.housekeeping.sweep()]);
    pushes.judge();
    expect(await viewsOf(token)).toBe(80);
  });

  test('sweeps at once end each push once', async () => {
    const push = { payload: 'x', expire_after_days: 1 };
    await Promise.all(Array.from({ length: 120 }, () => one().create(push, one().adminToken)));
    one().clock.advance(DAY);
    const sweeps = [0, 1, 0, 1].map((index) => services[index]?.service.housekeeping.sweep());
    const ended = await Promise.all(sweeps);
    expect(ended.reduce<number>((all, count = 0) => all + count, 0)).toBe(120);
  });

  test('DELETE and views: no payload once it was answered', async () => {
    for (let round = 0; round < times(6); round++) {
      const token = await createOwn({ expire_after_views: 100 });
      const during = pushes.atOnce(60, token);
      for (let waited = 0; waited < round; waited++) await preview(token);
      const ended = await Promise.all([0, 1, 0].map((client) => pushes.expire(client, token)));
      expect(statusesOf(ended)).toEqual([200]);
      await pushes.atOnce(20, token);
      expect(viewsIn(await during)).toBe(await viewsOf(token));
    }
    pushes.judge();
  });

  test('DELETE and a reading of the owner: no payload once it was answered, not even again', async () => {
    for (let round = 0; round < times(40); round++) {
      const id = await createOwn({ expire_after_views: 3 });
      const headers = { 'idempotency-key': `"${id}-${round}"` };
      const read = () => one().retrieve(id, { ...one().asAdmin, headers });
      const reading = read();
      await pushes.expire(1, id);
      await reading;
      expect((await read()).json.payload).toBeNull();
    }
  });

  test.each<[string, string, string, (service: TestService) => Promise<string>]>([
    ['without the key', 'pushes', 'failed_view', async (on) => on.createOwn(await keyed)],
    ['without the passphrase', 'pushes', 'failed_passphrase', (on) => on.createOwn({ passphrase: 'p' })],
    [
      'that come too late',
      'pushes',
      'failed_view',
      async (on) => {
        const token = await on.createOwn();
        await on.expire(token, on.asAdmin);
        return token;
      },
    ],
    ['of a question', 'requests', 'request_view', (on) => on.createRequest()],
  ])('fifty openings at once from one place %s are one entry', async (_, of, kind, create) => {
    const token = await create(one());
    const open = async (n: number) => services[n % 2]?.call('GET', `/api/v2/${of}/${token}`);
    await Promise.all(Array.from({ length: 50 }, (_, n) => open(n)));
    const entries = (await one().logOf(token, of)).filter((entry) => entry.kind === kind);
    expect(entries).toHaveLength(1);
  });

  test('the first start makes one token, however many start', async () => {
    const { settings } = await store.room();
    const io = { log: () => {}, warn: () => {}, now: () => new Date(), version: '0.1.0' };
    const open = () => openService({ ...defaults, ephemeral: false, ...settings }, io);
    const starts = await Promise.all([open(), open(), open()]);
    const tokens = await Promise.all(starts.map(({ owners }) => owners.addFirst()));
    expect(tokens.filter((token) => token !== undefined)).toHaveLength(1);
    await Promise.all(starts.map((service) => service.close()));
  });
});
