import { afterEach, beforeEach, expect, test } from 'vitest';
import { PASSPHRASE_COST } from '../../../src/server/keys/primitives';
import { openService } from '../../../src/server/open-service';
import { times } from '../../helpers/long';
import {
  type Answer,
  type Call,
  call,
  create,
  defaults,
  type TestService,
  testService,
} from '../../helpers/service';
import { onEachStore } from '../../helpers/stores';

const DAY = 86_400_000;

onEachStore((store) => {
  /** Two that share their data, as two processes would. */
  let services: TestService[];

  beforeEach(async () => {
    const { settings } = await store.room();
    // Long enough for others to wait.
    const passphraseCost = { ...PASSPHRASE_COST, p: 1 };
    const first = await testService({ ...settings, passphraseCost });
    const second = await testService({ ...settings, passphraseCost, clock: first.clock });
    services = [first, second];
  });

  afterEach(async () => {
    await Promise.all(services.map((service) => service.close()));
  });

  const one = () => services[0] as TestService;

  const ask = (index: number, method: string, path: string, how?: Call) =>
    call(services[index % 2] as TestService, method, `/api/v2/pushes/${path}`, how);

  const askAtOnce = (count: number, path: string) =>
    Promise.all(Array.from({ length: count }, (_, index) => ask(index, 'GET', path)));

  const payloads = (answers: Answer[]) => answers.filter(({ json }) => json.payload === 'x').length;

  /** Whether somebody came too late, or has to come again because the machine is slow. */
  const isLate = ({ status, json }: Answer) =>
    status === 503 || (status === 200 && json.payload === null && json.expired);

  /** How many views the audit log has. */
  async function viewsOf(token: string): Promise<number> {
    let views = 0;
    for (let page = 1; ; page++) {
      const path = `/api/v2/pushes/${token}/audit?page=${page}`;
      const { json } = await call(one(), 'GET', path, { token: one().adminToken });
      views += json.logs.filter(({ kind }: { kind: string }) => kind === 'view').length;
      if (json.logs.length === 0) return views;
    }
  }

  const createOwn = (push: Record<string, unknown>) =>
    create(one(), { payload: 'x', ...push }, one().adminToken);

  test('of many simultaneous requests for ten views exactly ten get the payload', async () => {
    const token = await createOwn({ expire_after_views: 10 });
    const answers = await askAtOnce(times(1000), token);
    expect([payloads(answers), await viewsOf(token)]).toEqual([10, 10]);
    expect(answers.filter((answer) => !isLate(answer) && answer.json.payload !== 'x')).toEqual([]);
  });

  test('with a passphrase, too: whom nobody can check now is told so, and takes nothing', {
    timeout: 90_000,
  }, async () => {
    // One is checked and 32 wait, until most of them go away: each check takes some processor time.
    const token = await createOwn({ expire_after_views: 2, passphrase: 'p' });
    const leaving = new AbortController();
    const calls = Array.from({ length: 40 }, async (_, index) => {
      const signal = index % 4 === 0 ? {} : { signal: leaving.signal };
      const answer = await ask(index, 'GET', `${token}?passphrase=p`, signal);
      if (answer.status === 503) leaving.abort();
      return answer;
    });
    const answers = await Promise.all(calls);
    expect([payloads(answers), await viewsOf(token)]).toEqual([2, 2]);
    const statuses = new Set(answers.map(({ status }) => status));
    expect([...statuses].sort()).toEqual([200, 499, 503]);
  });

  test('views and the end of the days: none is shown that is not counted, none after the sweep', async () => {
    const token = await createOwn({ expire_after_views: 100, expire_after_days: 1 });
    const during = askAtOnce(90, token);
    await ask(0, 'GET', `${token}/preview`);
    one().clock.advance(DAY);
    const sweeps = services.map(({ service }) => service.housekeeping.sweep());
    const late = askAtOnce(90, token);
    expect((await Promise.all(sweeps)).reduce((all, ended) => all + ended)).toBeLessThanOrEqual(1);
    expect(payloads(await askAtOnce(10, token))).toBe(0);
    const answers = [...(await during), ...(await late)];
    expect(answers.filter((answer) => !isLate(answer) && answer.json.payload !== 'x')).toEqual([]);
    expect(payloads(answers)).toBe(await viewsOf(token));
    expect(payloads(await late)).toBe(0);
  });

  test('sweeps at once end each push once', async () => {
    await Promise.all(Array.from({ length: 120 }, () => createOwn({ expire_after_days: 1 })));
    one().clock.advance(DAY);
    const sweeps = [0, 1, 0, 1].map((index) => services[index]?.service.housekeeping.sweep());
    const ended = await Promise.all(sweeps);
    expect(ended.reduce<number>((all, count = 0) => all + count, 0)).toBe(120);
  });

  test('DELETE and views: no payload once it was answered', async () => {
    for (let round = 0; round < times(10); round++) {
      const token = await createOwn({ expire_after_views: 100 });
      const during = askAtOnce(60, token);
      for (let waited = 0; waited < round; waited++) await ask(0, 'GET', `${token}/preview`);
      const ended = await Promise.all([
        ask(0, 'DELETE', token),
        ask(1, 'DELETE', token),
        ask(0, 'DELETE', token),
      ]);
      const after = await askAtOnce(20, token);
      expect(ended.map(({ status, json }) => [status, json.deleted])).toEqual(
        Array(3).fill([200, true]),
      );
      expect(payloads(after)).toBe(0);
      expect(payloads(await during)).toBe(await viewsOf(token));
    }
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
